import type { Cluster } from './cluster.ts'

/** Hosts with the role etcd are its members; without any, the control planes are. */
export function etcdHosts({ spec }: Cluster): Cluster['spec']['hosts'] {
  const dedicated = spec.hosts.filter(({ roles }) => roles.includes('etcd'))
  return dedicated.length > 0 ? dedicated : spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
}
