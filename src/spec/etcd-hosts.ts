import type { Cluster } from './cluster.ts'

/**
 * Returns the hosts that run etcd: the hosts with the role etcd, or all control planes if no host has this
 * role.
 */
export function etcdHosts({ spec }: Cluster): Cluster['spec']['hosts'] {
  const dedicated = spec.hosts.filter(({ roles }) => roles.includes('etcd'))
  return dedicated.length > 0 ? dedicated : spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
}
