import type { Cluster } from './cluster.ts'

/** Hosts that run etcd: those with the role etcd, or all control planes if no host has that role. */
export function etcdHosts({ spec }: Cluster): Cluster['spec']['hosts'] {
  const dedicated = spec.hosts.filter(({ roles }) => roles.includes('etcd'))
  return dedicated.length > 0 ? dedicated : spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
}
