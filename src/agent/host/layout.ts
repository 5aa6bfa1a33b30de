import { deliveries } from '../../contract/delivered.ts'

/** Where things are that the agent itself decides. What components have is in their plan. */
export interface Layout {
  /** What the agent remembers. */
  readonly state: string
  /** What was brought to the host for the next runs. */
  readonly delivered: string
  /** Units of systemd that the administrator of a host gives it. */
  readonly units: string
  readonly modules: string
  readonly sysctls: string
  /** Which hyperkube the host runs now: a link to the directory of its version. */
  readonly current: string
  /** In these everything is ours: what no component has goes. */
  readonly exclusive: readonly string[]
  /** In these everything is ours, and may have been written by a component. */
  readonly own: readonly string[]
  /** Where the agent listens. */
  readonly runtime: string
}

export const linuxLayout: Layout = {
  state: '/var/lib/hyperkube/agent',
  delivered: deliveries,
  units: '/etc/systemd/system',
  modules: '/etc/modules-load.d/hyperkube.conf',
  sysctls: '/etc/sysctl.d/90-hyperkube.conf',
  current: '/opt/hyperkube/current',
  exclusive: ['/etc/hyperkube', '/opt/hyperkube'],
  own: ['/etc/hyperkube', '/opt/hyperkube', '/var/lib/hyperkube', '/var/log/hyperkube'],
  runtime: '/run/hyperkube',
}

/** Whether a path is one of some directories, or below one. */
export function isWithin(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) => path === directory || path.startsWith(`${directory}/`))
}
