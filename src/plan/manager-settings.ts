import { type ManagerSettings, emptySettings } from '../contract/manager-settings.ts'
import type { PlanContext } from './context.ts'

/** Local port for health and metrics of hyperkube-controller-manager. */
export const managerPort = 6447

/**
 * Renders the settings that controllers need from cluster.yml. Addons are included only if controllers repair
 * them, because each addon change then changes this file on every control plane.
 */
export function renderManagerSettings({ cluster, addons }: Pick<PlanContext, 'cluster' | 'addons'>): string {
  const { etcd, manager } = cluster.spec
  const repairsAddons = manager !== 'none' && manager.controllers.includes('addon-reconciler')
  const settings: ManagerSettings = {
    ...emptySettings,
    ...(etcd.snapshots === undefined ? {} : { snapshots: etcd.snapshots }),
    ...(repairsAddons && addons !== undefined ? { addons } : {}),
  }
  return `${JSON.stringify(settings, undefined, 2)}\n`
}
