import type { EtcdClient } from '../etcd/client.ts'
import type { Identity } from '../identity/identity.ts'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import type { ClusterClient } from '../lifecycle/cluster-client/cluster-client.ts'
import {
  type ClusterClientOptions,
  createClusterClient,
  serverTimeoutMs,
} from '../lifecycle/cluster-client/create-cluster-client.ts'
import {
  buildEtcdUrl,
  createOperatorEtcdClient,
  dialThroughHosts,
  type FindRemote,
} from '../lifecycle/cluster-client/connections.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import {
  type HostEndpoint,
  listClusterEndpoints,
  listLoginEndpoints,
} from '../lifecycle/inputs/host-endpoints.ts'
import type { ObserveDeps } from '../lifecycle/observe/observe-cluster.ts'
import type { Cluster } from '../spec/cluster.ts'
import { HostKeyStore } from '../ssh/host-key-store.ts'
import type { Remote } from '../ssh/remote.ts'
import type { ClusterFiles, WorkspaceContext } from './context.ts'
import { openIdentity, saveIdentity } from './load-identity.ts'
import { formatHolder } from './lock-holder.ts'
import { openRemotes, openSshConnector } from './ssh-connector.ts'

/** Builds the options with which an action connects to a cluster. */
export function buildClientOptions(
  { identity, cluster }: Pick<ClusterInputs, 'identity' | 'cluster'>,
  { operator, now, signal }: WorkspaceContext,
  findRemote: ClusterClientOptions['findRemote'],
): ClusterClientOptions {
  return {
    identity,
    operator: formatHolder(operator, process.pid),
    apiPort: cluster.spec.api.port,
    findRemote,
    now: now(),
    signal,
  }
}

/** Connections to a cluster, for the duration of a command. */
export interface OpenedCluster extends AsyncDisposable {
  readonly endpoints: readonly HostEndpoint[]
  readonly api: ClusterClient['api']
  readonly deps: ObserveDeps
}

/** Connects to all hosts in parallel. A connection error is thrown only when the host is used. */
export async function connectToCluster(
  context: WorkspaceContext,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
): Promise<OpenedCluster> {
  const endpoints = listLoginEndpoints(cluster)
  const remotes = await openRemotes(context, clusterFile, cluster, identity)
  try {
    const view = buildClientOptions({ identity, cluster }, context, remotes.findRemote)
    // A TLS handshake through ssh costs more than the short requests of an observation.
    const client = await createClusterClient(endpoints, { ...view, serverTimeoutMs, maxEtcdConnections: 1 })
    return {
      endpoints,
      api: client.api,
      deps: { client, connect: remotes.findRemote },
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

interface OpenEtcd extends AsyncDisposable {
  readonly client: EtcdClient
}

/**
 * Opens a client for the etcd members of a cluster, through ssh connections to their hosts.
 */
export async function openEtcd(
  context: WorkspaceContext,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
): Promise<OpenEtcd> {
  const { operator, signal } = context
  const connector = await openSshConnector(operator, clusterFile, cluster, new HostKeyStore(identity))
  const endpoints = listClusterEndpoints(cluster).filter(({ etcd }) => etcd)
  const remotes = new Map<string, Promise<Remote>>()
  const closeConnections = async (): Promise<void> => {
    await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
    connector.close()
  }
  try {
    const hosts = cluster.spec.hosts.filter(({ name }) => endpoints.some(({ host }) => host === name))
    for (const host of hosts) remotes.set(host.name, connector.connect(host, signal))
    // An unreachable host is not an error as long as another one responds.
    for (const remote of remotes.values()) remote.catch(() => undefined)
    await requireReachable([...remotes.values()], 'etcd host')
    const client = await createEtcdClient(context, identity, endpoints, async (name) => remotes.get(name))
    return {
      client,
      async [Symbol.asyncDispose]() {
        client.close()
        await closeConnections()
      },
    }
  } catch (error) {
    await closeConnections()
    throw error
  }
}

/** Creates a client for etcd members whose ssh connections already exist. */
export async function createEtcdClient(
  { operator, now, signal }: Pick<WorkspaceContext, 'operator' | 'now' | 'signal'>,
  identity: Identity,
  endpoints: readonly HostEndpoint[],
  findRemote: FindRemote,
): Promise<EtcdClient> {
  return createOperatorEtcdClient(
    { identity, operator: formatHolder(operator, process.pid), now: now() },
    {
      servers: endpoints.map(buildEtcdUrl),
      dial: dialThroughHosts(endpoints, findRemote),
      signal,
    },
  )
}

export interface OpenApi
  extends
    AsyncDisposable,
    Pick<ClusterClient, 'api' | 'listNodes' | 'readApiState' | 'findUpgradeProblems'> {}

/** Connects to the API of a cluster through the control planes that are reachable by ssh. */
export async function openApi(
  context: WorkspaceContext,
  files: ClusterFiles,
  cluster: Cluster,
  forgetHostKeys: readonly string[] = [],
): Promise<OpenApi> {
  const identity = await openIdentity(context, files, cluster.metadata.name)
  const keys = new HostKeyStore(identity, forgetHostKeys)
  const connector = await openSshConnector(context.operator, files.file, cluster, keys)
  const servers = cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
  const remotes = new Map(
    servers.map((host) => [host.name, connector.connect(host, context.signal)] as const),
  )
  // An unreachable control plane is not an error as long as another one responds.
  for (const remote of remotes.values()) remote.catch(() => undefined)
  const close = async (): Promise<void> => {
    await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
    connector.close()
    if (keys.changed) await saveIdentity(context, files, keys.identity)
  }
  try {
    await requireReachable([...remotes.values()], 'control plane')
    const clientOptions = buildClientOptions({ identity, cluster }, context, async (host) =>
      remotes.get(host),
    )
    const client = await createClusterClient(listClusterEndpoints(cluster), clientOptions)
    return {
      api: client.api,
      listNodes: async (signal) => client.listNodes(signal),
      readApiState: async () => client.readApiState(),
      findUpgradeProblems: async (version) => client.findUpgradeProblems(version),
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

/**
 * Throws if all connections have failed. Without this check, the client would retry and report the failure
 * only after its timeout.
 */
async function requireReachable(remotes: readonly Promise<Remote>[], what: string): Promise<void> {
  await Promise.any(remotes).catch((error: unknown) => {
    if (!(error instanceof AggregateError)) throw error
    // An unknown host key is thrown alone, because its hint names the command that accepts the key.
    for (const one of error.errors) {
      if (one instanceof HyperkubeError && one.code === 'SSH_HOST_KEY_UNKNOWN') throw one
    }
    const reasons = error.errors.map(formatError).join('; ')
    throw new HyperkubeError('SSH_UNREACHABLE', `no ${what} is reachable: ${reasons}`, {
      hint: 'find the cause: hyperkube doctor',
    })
  })
}
