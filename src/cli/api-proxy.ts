import { credentialsFor } from '../lifecycle/operator-credentials.ts'
import type { Authority } from '../pki/ca.ts'
import { year } from '../pki/lifetime.ts'
import { Proxy } from '../proxy/proxy.ts'
import { usualTiming } from '../proxy/timing.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Context } from './command.ts'
import { controlPlanes } from './control-planes.ts'

/** Serves the API on this machine, by way of whichever control planes are well, until it is stopped. */
export async function openApiProxy(
  { operator, now }: Pick<Context, 'operator' | 'now'>,
  cluster: Cluster,
  kubernetes: Authority,
  listen: string,
  say: (line: string) => void,
): Promise<Proxy> {
  // For servers that tell only those whom they know how they are: it opens nothing else.
  const who = `hyperkube:proxy:${operator.user}@${operator.machine}`
  const { certificate, privateKey } = await credentialsFor(kubernetes, who, [], now(), year)
  const servers = controlPlanes(cluster)
  const proxy = new Proxy(
    {
      configuration: { listen, servers: servers.map(({ server }) => server) },
      authority: kubernetes.certificate,
      credentials: { certificate, privateKey: privateKey.revealText() },
    },
    [],
    { timing: usualTiming, random: Math.random, log: (line) => say(named(servers, line)) },
  )
  await proxy.start()
  return proxy
}

/** With the name that people have given to a server. */
function named(servers: ReturnType<typeof controlPlanes>, line: string): string {
  const about = servers.find(({ server }) => line.startsWith(`${server} `))
  return about === undefined ? line : `${about.name} at ${line}`
}
