import { forgetHostKey } from '../../identity/host-key.ts'
import { HostKeys } from '../../lifecycle/host-key-store.ts'
import { placesIn } from '../../lifecycle/host-endpoints.ts'
import { type Surroundings, surroundings } from '../../lifecycle/cluster-client.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context, Invocation } from '../command.ts'
import { openWays } from '../ssh-connector.ts'
import { openIdentity, saveIdentity } from '../load-identity.ts'
import { runFlags } from '../run-flags.ts'
import { viewOf } from '../up/propose.ts'

export interface OpenApi extends AsyncDisposable, Pick<Surroundings, 'api'> {}

/** The API of a cluster, by way of those of its control planes that answer by ssh. */
export async function openApi(
  context: Context,
  options: Invocation['options'],
  cluster: Cluster,
): Promise<OpenApi> {
  const identity = await openIdentity(context, options, cluster.metadata.name)
  const keys = new HostKeys(runFlags.parse(options).forgetHostKey.reduce(forgetHostKey, identity))
  const ways = await openWays(context.operator, options.file, cluster, keys)
  const servers = cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
  const remotes = new Map(servers.map((host) => [host.name, ways.connect(host, context.signal)] as const))
  // One that does not answer is no reason to end, as long as another one does.
  for (const remote of remotes.values()) remote.catch(() => undefined)
  const close = async (): Promise<void> => {
    await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
    ways.close()
    if (keys.changed) await saveIdentity(context, options, keys.identity)
  }
  try {
    const view = viewOf({ identity, cluster }, context, async (host) => remotes.get(host))
    const around = await surroundings(placesIn(cluster), view)
    return {
      api: around.api,
      async [Symbol.asyncDispose]() {
        around[Symbol.dispose]()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
