import type { DnsSettings } from '../../spec/addons.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** More are refused by CoreDNS itself. */
const mostServers = 15

export function corefile(
  cluster: Cluster,
  settings: DnsSettings,
  resolvers: readonly (readonly string[])[],
): string {
  const { domain } = cluster.spec.network
  const servers = serversOf(cluster, settings, resolvers)
  const lines = [
    ...(servers.length > 0
      ? ['errors']
      : [
          'errors {',
          '   # There is nobody to ask for names outside the cluster.',
          `   consolidate 5m "no next plugin found$"`,
          '}',
        ]),
    'health {',
    '   lameduck 5s',
    '}',
    'ready',
    `kubernetes ${domain} in-addr.arpa ip6.arpa {`,
    '   pods insecure',
    '   fallthrough in-addr.arpa ip6.arpa',
    '   ttl 30',
    '}',
    'prometheus :9153',
    ...(servers.length > 0 ? [`forward . ${servers.join(' ')} {`, '   max_concurrent 1000', '}'] : []),
    'cache 30 {',
    '   # What it knows itself is known at once, and never late.',
    `   disable success ${domain}`,
    `   disable denial ${domain}`,
    '}',
    'loop',
    'reload',
    'loadbalance',
  ]
  return ['.:53 {', ...lines.map((line) => `    ${line}`), '}', ''].join('\n')
}

/**
 * Who is asked for names outside the cluster. The file that the kubelet gives to the pod names those that the host asks.
 * A file that names nobody ends CoreDNS at its start, and one that names the host itself leads back to CoreDNS; so where
 * a host has such a file, all are given the servers of the others.
 */
function serversOf(
  cluster: Cluster,
  { forward }: DnsSettings,
  resolvers: readonly (readonly string[])[],
): readonly string[] {
  if (forward !== undefined) return forward
  const others = resolvers.map((servers) => servers.filter((server) => !isLoopback(server)))
  if (hasOwnFile(cluster) || others.every((servers) => servers.length > 0)) return ['/etc/resolv.conf']
  return [...new Set(others.flat())].toSorted().slice(0, mostServers)
}

/** Whether it depends on the hosts who is asked. */
export function followsHosts(cluster: Cluster): boolean {
  const { dns } = cluster.spec
  return dns !== 'none' && dns.forward === undefined && !hasOwnFile(cluster)
}

function isLoopback(server: string): boolean {
  return server.startsWith('127.') || server === '::1'
}

/** Somebody has written a file for kubelets to give to pods, and knows what is in it. */
function hasOwnFile({ spec }: Cluster): boolean {
  const kubelets = [spec.components.kubelet, ...spec.hosts.map(({ components }) => components?.kubelet)]
  return kubelets.some(
    (kubelet) =>
      kubelet?.config?.['resolvConf'] !== undefined || kubelet?.args?.['resolv-conf'] !== undefined,
  )
}
