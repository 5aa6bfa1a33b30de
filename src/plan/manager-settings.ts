import { type ManagerSettings, noSettings } from '../contract/manager-settings.ts'
import type { Scene } from './context.ts'

/** The local port where hyperkube's own controllers say how they are. */
export const managerPort = 6447

/**
 * What controllers must know of cluster.yml. Of addons only where somebody wants them put back: with each change of one the
 * file changes on every control plane.
 */
export function managerSettings({ cluster, addons }: Pick<Scene, 'cluster' | 'addons'>): string {
  const { etcd, manager } = cluster.spec
  const mends = manager !== 'none' && manager.controllers.includes('addon-mender')
  const settings: ManagerSettings = {
    ...noSettings,
    ...(etcd.snapshots === undefined ? {} : { snapshots: etcd.snapshots }),
    ...(mends && addons !== undefined ? { addons } : {}),
  }
  return `${JSON.stringify(settings, undefined, 2)}\n`
}
