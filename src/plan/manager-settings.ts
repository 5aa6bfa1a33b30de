import { type ManagerSettings, noSettings } from '../contract/manager-settings.ts'
import type { Scene } from './scene.ts'

/** The local port where hyperkube's own controllers say how they are. */
export const managerPort = 6447

/** What controllers must know of cluster.yml. */
export function managerSettings({ cluster }: Pick<Scene, 'cluster'>): string {
  const { snapshots } = cluster.spec.etcd
  const settings: ManagerSettings = { ...noSettings, ...(snapshots === undefined ? {} : { snapshots }) }
  return `${JSON.stringify(settings, undefined, 2)}\n`
}
