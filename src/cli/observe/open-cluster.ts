import type { Identity } from '../../identity/identity.ts'
import type { ObserveDeps } from '../../lifecycle/observe/observe-cluster.ts'
import { serverTimeoutMs, createObserveDeps } from '../../lifecycle/observe/observe-deps.ts'
import { type HostEndpoint, listClusterEndpoints } from '../../lifecycle/host-endpoints.ts'
import { type ClusterClient, createClusterClient } from '../../lifecycle/cluster-client.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext } from '../command.ts'
import { openRemotes } from '../open-remotes.ts'
import { buildClientOptions } from '../up/propose.ts'

/** Connections to a cluster, for the duration of a command. */
export interface OpenedCluster extends AsyncDisposable, Pick<ClusterClient, 'api'> {
  readonly endpoints: readonly HostEndpoint[]
  readonly deps: ObserveDeps
}

/** Connects to all hosts in parallel. A connection error is thrown only when the host is used. */
export async function openCluster(
  context: CommandContext,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
): Promise<OpenedCluster> {
  const endpoints = listClusterEndpoints(cluster)
  const remotes = await openRemotes(context, clusterFile, cluster, identity)
  try {
    const view = buildClientOptions({ identity, cluster }, context, remotes.findRemote)
    const client = await createClusterClient(endpoints, { ...view, serverTimeoutMs })
    return {
      endpoints,
      api: client.api,
      deps: createObserveDeps(client, remotes.findRemote),
      async [Symbol.asyncDispose]() {
        client[Symbol.dispose]()
        await remotes[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await remotes[Symbol.asyncDispose]()
    throw error
  }
}
