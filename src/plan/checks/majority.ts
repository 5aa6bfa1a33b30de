import { etcdHosts } from '../../spec/etcd-hosts.ts'
import type { Host } from '../../spec/host.ts'
import type { HostSubject } from './check.ts'

/** What a host that does not answer would take from the cluster, in words: nothing, as long as most others are there. */
export function missingMajority({ host, cluster, facts }: HostSubject): string | undefined {
  const tooFew = (hosts: readonly Host[]): string | undefined => {
    const left = hosts.filter(({ name }) => facts.has(name)).length
    const concerned = hosts.some(({ name }) => name === host.name)
    return concerned && left * 2 <= hosts.length ? `${left} of ${hosts.length}` : undefined
  }
  const members = tooFew(etcdHosts(cluster))
  if (members !== undefined) {
    return `etcd would have no quorum: ${members} members are left, and more than half are needed`
  }
  const servers = tooFew(cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane')))
  if (servers === undefined) return undefined
  return `${servers} control planes are left: more than half must agree on who changes the cluster`
}
