import { forgetHostKey } from '../../identity/host-key.ts'
import { HostKeyStore } from '../../lifecycle/host-key-store.ts'
import { listClusterEndpoints } from '../../lifecycle/host-endpoints.ts'
import { type ClusterClient, createClusterClient } from '../../lifecycle/cluster-client.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext, Invocation } from '../command.ts'
import { openSshConnector } from '../ssh-connector.ts'
import { openIdentity, saveIdentity } from '../load-identity.ts'
import { runFlags } from '../run-flags.ts'
import { buildClientOptions } from '../up/propose.ts'

export interface OpenApi extends AsyncDisposable, Pick<ClusterClient, 'api'> {}

/** Connects to the API of a cluster through the control planes that are reachable by ssh. */
export async function openApi(
  context: CommandContext,
  options: Invocation['options'],
  cluster: Cluster,
): Promise<OpenApi> {
  const identity = await openIdentity(context, options, cluster.metadata.name)
  const keys = new HostKeyStore(runFlags.parse(options).forgetHostKey.reduce(forgetHostKey, identity))
  const connector = await openSshConnector(context.operator, options.file, cluster, keys)
  const servers = cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
  const remotes = new Map(
    servers.map((host) => [host.name, connector.connect(host, context.signal)] as const),
  )
  // An unreachable control plane is not an error as long as another one responds.
  for (const remote of remotes.values()) remote.catch(() => undefined)
  const close = async (): Promise<void> => {
    await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
    connector.close()
    if (keys.changed) await saveIdentity(context, options, keys.identity)
  }
  try {
    const clientOptions = buildClientOptions({ identity, cluster }, context, async (host) =>
      remotes.get(host),
    )
    const client = await createClusterClient(listClusterEndpoints(cluster), clientOptions)
    return {
      api: client.api,
      async [Symbol.asyncDispose]() {
        client[Symbol.dispose]()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
