import type { Identity } from '../identity/identity.ts'
import { HostKeyStore } from '../lifecycle/host-key-store.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import type { Remote } from '../ssh/remote.ts'
import type { CommandContext } from './command.ts'
import { openSshConnector } from './ssh-connector.ts'

/**
 * One ssh connection per host, for commands that only read. For an unreachable host, `findRemote` rejects.
 */
export interface OpenRemotes extends AsyncDisposable {
  readonly findRemote: (host: string) => Promise<Remote>
}

/** Connects to hosts in parallel. */
export async function openRemotes(
  { operator, signal }: Pick<CommandContext, 'operator' | 'signal'>,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
  hosts: readonly HostSpec[] = cluster.spec.hosts,
): Promise<OpenRemotes> {
  const connector = await openSshConnector(operator, clusterFile, cluster, new HostKeyStore(identity))
  const remotes = new Map(hosts.map((host) => [host.name, connector.connect(host, signal)] as const))
  // Callers get the error when they use the connection. A failed connection that is not used must not end the
  // process.
  for (const remote of remotes.values()) remote.catch(() => undefined)
  return {
    async findRemote(host) {
      const remote = remotes.get(host)
      if (remote === undefined) throw new Error(`there is no connection to ${host}`)
      return remote
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
      connector.close()
    },
  }
}
