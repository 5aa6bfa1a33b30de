import type { DnsSettings } from '../../spec/addons.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** Maximum number of upstream servers that CoreDNS accepts. */
const maxServers = 15

export function buildCorefile(
  cluster: Cluster,
  settings: DnsSettings,
  resolvers: readonly (readonly string[])[],
): string {
  const { domain } = cluster.spec.network
  const servers = findServers(cluster, settings, resolvers)
  const lines = [
    ...(servers.length > 0
      ? ['errors']
      : [
          'errors {',
          '   # There is no resolver for names outside the cluster.',
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
 * Returns the upstream resolvers for names outside the cluster, by default the host's /etc/resolv.conf.
 * CoreDNS cannot use that file if it is empty or names only loopback addresses. If a host has such a file,
 * all pods use the resolvers of the other hosts.
 */
function findServers(
  cluster: Cluster,
  { forward }: DnsSettings,
  resolvers: readonly (readonly string[])[],
): readonly string[] {
  if (forward !== undefined) return forward
  const others = resolvers.map((servers) => servers.filter((server) => !isLoopback(server)))
  if (hasCustomResolvConf(cluster) || others.every((servers) => servers.length > 0))
    return ['/etc/resolv.conf']
  return [...new Set(others.flat())].toSorted().slice(0, maxServers)
}

/** True if the upstream resolvers of CoreDNS depend on the hosts. */
export function hasHostDependentDns(cluster: Cluster): boolean {
  const { dns } = cluster.spec
  return dns !== 'none' && dns.forward === undefined && !hasCustomResolvConf(cluster)
}

function isLoopback(server: string): boolean {
  return server.startsWith('127.') || server === '::1'
}

/**
 * True if the user has configured a resolv.conf for kubelets. The user is then responsible for its content.
 */
function hasCustomResolvConf({ spec }: Cluster): boolean {
  const kubelets = [spec.components.kubelet, ...spec.hosts.map(({ components }) => components?.kubelet)]
  return kubelets.some(
    (kubelet) =>
      kubelet?.config?.['resolvConf'] !== undefined || kubelet?.args?.['resolv-conf'] !== undefined,
  )
}
