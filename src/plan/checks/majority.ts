import { etcdHosts } from '../../spec/etcd-hosts.ts'
import type { HostSpec } from '../../spec/host.ts'
import type { HostSubject } from './check.ts'

/**
 * Says which majority the cluster loses without an unreachable host. Undefined if more than half of its peers
 * are reachable.
 */
export function describeLostMajority({ host, cluster, facts }: HostSubject): string | undefined {
  const describeMinority = (hosts: readonly HostSpec[]): string | undefined => {
    const reachable = hosts.filter(({ name }) => facts.has(name)).length
    const isMember = hosts.some(({ name }) => name === host.name)
    return isMember && reachable * 2 <= hosts.length ? `${reachable} of ${hosts.length}` : undefined
  }
  const members = describeMinority(etcdHosts(cluster))
  if (members !== undefined) {
    return `etcd would have no quorum: ${members} members are left, and more than half are needed`
  }
  const servers = describeMinority(cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane')))
  if (servers === undefined) return undefined
  return `${servers} control planes are left: more than half must agree on who changes the cluster`
}
