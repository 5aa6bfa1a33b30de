import type { Identity } from '../identity/identity.ts'
import { HostKeys } from '../lifecycle/host-key-store.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Host } from '../spec/host.ts'
import type { Remote } from '../ssh/remote.ts'
import type { Context } from './command.ts'
import { openWays } from './ssh-connector.ts'

/** The ssh connections of a command that only looks: to each host one, which fails where that does not answer. */
export interface OpenRemotes extends AsyncDisposable {
  readonly of: (host: string) => Promise<Remote>
}

/** Goes to some hosts of a cluster at once. */
export async function openRemotes(
  { operator, signal }: Pick<Context, 'operator' | 'signal'>,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
  hosts: readonly Host[] = cluster.spec.hosts,
): Promise<OpenRemotes> {
  const ways = await openWays(operator, clusterFile, cluster, new HostKeys(identity))
  const remotes = new Map(hosts.map((host) => [host.name, ways.connect(host, signal)] as const))
  // Whoever needs one hears of it; that nobody does is no reason to end.
  for (const remote of remotes.values()) remote.catch(() => undefined)
  return {
    async of(host) {
      const remote = remotes.get(host)
      if (remote === undefined) throw new Error(`nobody went to ${host}`)
      return remote
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
      ways.close()
    },
  }
}
