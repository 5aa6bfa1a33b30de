import type { Cluster } from '../../spec/cluster.ts'
import { isNode } from '../context.ts'
import { type LinuxCheck, type SystemSubject, warning } from './check.ts'
import { isLoopback } from './ipv4.ts'

/** Whom CoreDNS asks for names outside the cluster: it runs in a pod with the resolver of its host. */
export const resolver: LinuxCheck = (subject) => {
  if (!isNode(subject) || hasOwnFile(subject) || hasServers(subject.cluster)) return []
  const { file, servers } = subject.system.resolver
  const hint =
    'name servers in spec.dns.forward; or in a file of your own, and its path in kubelet.config.resolvConf of the host'
  if (servers.length === 0) {
    const message = `${file} names no server, so pods find no name outside the cluster`
    return [warning(subject, 'HOST_NO_RESOLVER', message, { hint })]
  }
  if (!servers.every(isLoopback)) return []
  const message = `${file} names only ${servers.join(', ')}: CoreDNS would ask itself`
  return [warning(subject, 'HOST_RESOLVER_LOOP', message, { hint })]
}

/** Somebody has said whom CoreDNS asks. */
function hasServers({ spec: { dns } }: Cluster): boolean {
  return dns !== 'none' && dns.forward !== undefined
}

function hasOwnFile({ cluster, host }: SystemSubject): boolean {
  const wishes = [cluster.spec.components.kubelet, host.components?.kubelet]
  return wishes.some(
    (wish) => wish?.config?.['resolvConf'] !== undefined || wish?.args?.['resolv-conf'] !== undefined,
  )
}
