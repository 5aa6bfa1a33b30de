import { EtcdClient } from '../../etcd/client.ts'
import type { Identity } from '../../identity/identity.ts'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { dialThroughHosts } from '../../lifecycle/dial.ts'
import { HostKeyStore } from '../../lifecycle/host-key-store.ts'
import { issueOperatorCredentials } from '../../lifecycle/operator-credentials.ts'
import { type HostEndpoint, listClusterEndpoints } from '../../lifecycle/host-endpoints.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { CommandContext } from '../command.ts'
import { formatHolder } from '../lock-holder.ts'
import { openSshConnector } from '../ssh-connector.ts'

export interface OpenEtcd extends AsyncDisposable {
  readonly client: EtcdClient
}

/**
 * Opens a client for the etcd members of a cluster, through ssh connections to their hosts. A connection is
 * opened when it is first needed.
 */
export async function openEtcd(
  context: CommandContext,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
): Promise<OpenEtcd> {
  const { operator, signal } = context
  const connector = await openSshConnector(operator, clusterFile, cluster, new HostKeyStore(identity))
  const endpoints = listClusterEndpoints(cluster).filter(({ etcd }) => etcd)
  const remotes = new Map<string, Promise<Remote>>()
  const findRemote = async (name: string): Promise<Remote | undefined> => {
    const host = cluster.spec.hosts.find((one) => one.name === name)
    if (host === undefined) return undefined
    const remote = remotes.get(name) ?? connector.connect(host, signal)
    remotes.set(name, remote)
    return remote
  }
  const client = await createEtcdClient(context, identity, endpoints, findRemote)
  return {
    client,
    async [Symbol.asyncDispose]() {
      client.close()
      await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
      connector.close()
    },
  }
}

/** Creates a client for etcd members whose ssh connections already exist. */
export async function createEtcdClient(
  { operator, now, signal }: Pick<CommandContext, 'operator' | 'now' | 'signal'>,
  identity: Identity,
  endpoints: readonly HostEndpoint[],
  findRemote: (host: string) => Promise<Remote | undefined>,
): Promise<EtcdClient> {
  const { etcd: credentials } = await issueOperatorCredentials(
    identity,
    formatHolder(operator, process.pid),
    now(),
  )
  return new EtcdClient({
    endpoints: endpoints.map(({ address }) => `https://${address}:2379`),
    ca: trustedCas(identity.cas.etcd),
    credentials: {
      certificate: credentials.certificate,
      privateKey: credentials.privateKey.revealText(),
    },
    dial: dialThroughHosts(endpoints, findRemote),
    signal,
  })
}
