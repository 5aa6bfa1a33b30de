import type { Cluster } from '../../spec/cluster.ts'
import { isNode } from '../context.ts'
import { type LinuxCheck, type SystemSubject, hostWarning } from './check.ts'
import { isLoopback } from './ipv4.ts'

/** Checks the DNS resolver of the host, to which CoreDNS forwards names outside the cluster. */
export const checkResolver: LinuxCheck = (subject) => {
  if (!isNode(subject) || hasCustomResolvConf(subject) || hasForwardServers(subject.cluster)) return []
  const { file, servers } = subject.system.resolver
  const hint =
    'name servers in spec.dns.forward; or in a file of your own, and its path in kubelet.config.resolvConf of the host'
  if (servers.length === 0) {
    const message = `${file} names no server, so pods find no name outside the cluster`
    return [hostWarning(subject, 'HOST_NO_RESOLVER', message, { hint })]
  }
  if (!servers.every(isLoopback)) return []
  const message = `${file} names only ${servers.join(', ')}: CoreDNS would ask itself`
  return [hostWarning(subject, 'HOST_RESOLVER_LOOP', message, { hint })]
}

/** True if cluster.yml lists upstream servers for CoreDNS. */
function hasForwardServers({ spec: { dns } }: Cluster): boolean {
  return dns !== 'none' && dns.forward !== undefined
}

function hasCustomResolvConf({ cluster, host }: SystemSubject): boolean {
  const kubeletSettings = [cluster.spec.components.kubelet, host.components?.kubelet]
  return kubeletSettings.some(
    (kubelet) =>
      kubelet?.config?.['resolvConf'] !== undefined || kubelet?.args?.['resolv-conf'] !== undefined,
  )
}
