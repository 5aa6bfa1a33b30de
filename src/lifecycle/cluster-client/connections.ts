import { EtcdClient, type EtcdClientOptions } from '../../etcd/client.ts'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { formatHostPort } from '../../kit/host-port.ts'
import type { Dial } from '../../kit/tunnel.ts'
import { KubeClient, type KubeClientOptions } from '../../kube/client.ts'
import { parseKubeconfig } from '../../kube/kubeconfig.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import {
  issueOperatorCredentials,
  type OperatorAccess,
  type OperatorCredentials,
} from './operator-credentials.ts'

/**
 * Returns the connection to a host, through which its components are reached; undefined if the host is not
 * connected.
 */
export type FindRemote = (host: string) => Promise<Remote | undefined>

/**
 * Opens connections to cluster components through the hosts they run on, so ssh access is enough. Each dial
 * looks up the ssh connection, because a lost connection is replaced by a new one. A host without a known address
 * is dialed by its name, which the certificates of etcd and of API servers contain.
 */
export function dialThroughHosts(endpoints: readonly HostEndpoint[], findRemote: FindRemote): Dial {
  const names = new Set(endpoints.map(({ host }) => host))
  const hostAt = new Map(endpoints.map(({ host, address }) => [address, host]))
  return async (address, port, signal) => {
    if (names.has(address)) return dialOnHost(address, findRemote)('127.0.0.1', port, signal)
    const host = hostAt.get(address) ?? (await findConnectedHost(endpoints, findRemote))
    if (host !== undefined) return dialOnHost(host, findRemote)(address, port, signal)
    throw new HyperkubeError('SSH_UNREACHABLE', `cannot connect to ${address}: no host is reachable`)
  }
}

/**
 * Finds a host that can connect to an address of another host. Without facts only etcd knows the addresses of some
 * hosts. Undefined if all addresses are known, because the address is then none of a host of the cluster.
 */
async function findConnectedHost(
  endpoints: readonly HostEndpoint[],
  findRemote: FindRemote,
): Promise<string | undefined> {
  if (endpoints.every(({ address }) => address !== undefined)) return undefined
  for (const { host, os } of endpoints)
    if (os === undefined && (await findRemote(host).catch(() => undefined)) !== undefined) return host
  return undefined
}

/** Opens connections from one host, for example to its own loopback address. */
export function dialOnHost(host: string, findRemote: FindRemote): Dial {
  return async (address, port, signal) => {
    const remote = await findRemote(host)
    if (remote !== undefined) return remote.dial(address, port, { signal })
    throw new HyperkubeError('SSH_UNREACHABLE', `cannot connect to ${address}: the host is unreachable`, {
      host,
    })
  }
}

/** Returns the client URL of an etcd member. The name of the host stands for an unknown address. */
export function buildEtcdUrl({ host, address = host }: Pick<HostEndpoint, 'host' | 'address'>): string {
  return `https://${formatHostPort(address, 2379)}`
}

/** URLs of etcd members or API servers, and how they are reached. */
interface ServerAccess extends Pick<KubeClientOptions, 'servers' | 'dial' | 'timing' | 'signal'> {}

/** URLs of etcd members, and how they are reached. */
interface EtcdAccess
  extends Pick<ServerAccess, 'servers' | 'dial' | 'signal'>, Pick<EtcdClientOptions, 'maxConnections'> {}

export async function createOperatorEtcdClient(
  operator: OperatorAccess,
  { servers: endpoints, dial, maxConnections, signal }: EtcdAccess,
): Promise<EtcdClient> {
  const credentials = revealCredentials(await issueOperatorCredentials(operator, 'etcd'))
  const ca = trustedCas(operator.identity.cas.etcd)
  return new EtcdClient({ endpoints, ca, credentials, dial, maxConnections, signal })
}

export async function createOperatorApiClient(
  operator: OperatorAccess,
  access: ServerAccess,
): Promise<KubeClient> {
  const credentials = revealCredentials(await issueOperatorCredentials(operator, 'kubernetes'))
  return new KubeClient({ ...access, ca: trustedCas(operator.identity.cas.kubernetes), credentials })
}

/** Creates a client from the text of a kubeconfig. `file` is the name of the kubeconfig in error messages. */
export function createKubeconfigClient(kubeconfig: string, file: string, signal: AbortSignal): KubeClient {
  return new KubeClient({ ...parseKubeconfig(kubeconfig, file), signal })
}

function revealCredentials({ certificate, privateKey }: OperatorCredentials): {
  readonly certificate: string
  readonly privateKey: string
} {
  return { certificate, privateKey: privateKey.revealText() }
}
