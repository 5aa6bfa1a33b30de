import { EtcdClient } from '../../etcd/client.ts'
import type { Identity } from '../../identity/identity.ts'
import { trustedAuthorities } from '../../identity/trusted-keys.ts'
import { dialThrough } from '../../lifecycle/dial.ts'
import { HostKeys } from '../../lifecycle/host-key-store.ts'
import { operatorCredentials } from '../../lifecycle/operator-credentials.ts'
import { type Place, placesIn } from '../../lifecycle/host-endpoints.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { Context } from '../command.ts'
import { holderName } from '../lock-holder.ts'
import { openWays } from '../ssh-connector.ts'

export interface OpenEtcd extends AsyncDisposable {
  readonly client: EtcdClient
}

/** The way to the members of a cluster's etcd, through the ssh connections of their hosts. Each is made when it is needed. */
export async function openEtcd(
  context: Context,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
): Promise<OpenEtcd> {
  const { operator, signal } = context
  const ways = await openWays(operator, clusterFile, cluster, new HostKeys(identity))
  const places = placesIn(cluster).filter(({ etcd }) => etcd)
  const remotes = new Map<string, Promise<Remote>>()
  const remoteOf = async (name: string): Promise<Remote | undefined> => {
    const host = cluster.spec.hosts.find((one) => one.name === name)
    if (host === undefined) return undefined
    const remote = remotes.get(name) ?? ways.connect(host, signal)
    remotes.set(name, remote)
    return remote
  }
  const client = await etcdThrough(context, identity, places, remoteOf)
  return {
    client,
    async [Symbol.asyncDispose]() {
      client.close()
      await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
      ways.close()
    },
  }
}

/** The same for who has the connections already. */
export async function etcdThrough(
  { operator, now, signal }: Pick<Context, 'operator' | 'now' | 'signal'>,
  identity: Identity,
  places: readonly Place[],
  remoteOf: (host: string) => Promise<Remote | undefined>,
): Promise<EtcdClient> {
  const { etcd: credentials } = await operatorCredentials(identity, holderName(operator, process.pid), now())
  return new EtcdClient({
    endpoints: places.map(({ address }) => `https://${address}:2379`),
    authority: trustedAuthorities(identity.authorities.etcd),
    credentials: {
      certificate: credentials.certificate,
      privateKey: credentials.privateKey.revealText(),
    },
    dial: dialThrough(places, remoteOf),
    signal,
  })
}
