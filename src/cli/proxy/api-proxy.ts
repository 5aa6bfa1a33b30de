import { formatHostPort } from '../../kit/host-port.ts'
import { issueClientCredentials } from '../../lifecycle/cluster-client/operator-credentials.ts'
import type { Ca } from '../../pki/ca.ts'
import { year } from '../../pki/lifetime.ts'
import { ApiserverProxy } from '../../proxy/proxy.ts'
import { defaultProxyTiming } from '../../proxy/timing.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext } from '../command/command.ts'

/** Serves the API on this machine through the healthy control planes, until the returned proxy is stopped. */
export async function openApiProxy(
  { operator, now }: Pick<CommandContext, 'operator' | 'now'>,
  cluster: Cluster,
  kubernetes: Ca,
  listen: string,
  print: (line: string) => void,
): Promise<ApiserverProxy> {
  // API servers may require authentication for health checks. The user of this certificate has no other
  // permissions.
  const user = `hyperkube:proxy:${operator.user}@${operator.machine}`
  const { certificate, privateKey } = await issueClientCredentials(kubernetes, user, [], now(), year)
  const servers = listControlPlanes(cluster)
  const proxy = new ApiserverProxy(
    {
      configuration: { listen, servers: servers.map(({ server }) => server) },
      caCertificate: kubernetes.certificate,
      credentials: { certificate, privateKey: privateKey.revealText() },
    },
    [],
    { timing: defaultProxyTiming, random: Math.random, log: (line) => print(withServerName(servers, line)) },
  )
  await proxy.start()
  return proxy
}

/** Adds the host name from cluster.yml to a log line about a server. */
function withServerName(servers: ReturnType<typeof listControlPlanes>, line: string): string {
  const known = servers.find(({ server }) => line.startsWith(`${server} `))
  return known === undefined ? line : `${known.name} at ${line}`
}

/** The API server of a control plane in cluster.yml. */
interface ControlPlane {
  readonly name: string
  /** Address for operators: HOST:PORT. */
  readonly server: string
}

export function listControlPlanes({ spec }: Cluster): ControlPlane[] {
  return spec.hosts
    .filter(({ roles }) => roles.includes('control-plane'))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, address }) => ({ name, server: formatHostPort(address, spec.api.port) }))
}
