import type { Identity } from '../../identity/identity.ts'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { KubeClient } from '../../kube/client.ts'
import { type KubeApiAccess, parseKubeconfig } from '../../kube/kubeconfig.ts'
import { issueOperatorCredentials } from '../operator-credentials.ts'
import { type ControllerSettings, type ReportedStatus, readReportedStatus } from './reported-status.ts'

/** Reads the status that a cluster reports through the API; needs no ssh. */
export interface StatusReader extends Disposable {
  readonly servers: readonly string[]
  read(now: Date): Promise<ReportedStatus>
}

export interface StatusReaderOptions extends ControllerSettings {
  readonly signal: AbortSignal
}

/** Uses only the text of a kubeconfig. */
export function createKubeconfigStatusReader(
  kubeconfig: string,
  file: string,
  options: StatusReaderOptions,
): StatusReader {
  return createStatusReader(parseKubeconfig(kubeconfig, file), options)
}

export interface IdentityAccess {
  readonly identity: Identity
  /** The name of the operator. */
  readonly operator: string
  /** API servers as operators reach them. */
  readonly servers: readonly string[]
  readonly now: Date
}

/** Uses the identity of the cluster and connects directly to its API servers. */
export async function createIdentityStatusReader(
  { identity, operator, servers, now }: IdentityAccess,
  options: StatusReaderOptions,
): Promise<StatusReader> {
  const { kubernetes } = await issueOperatorCredentials(identity, operator, now)
  const { certificate, privateKey } = kubernetes
  const ca = trustedCas(identity.cas.kubernetes)
  const credentials = { certificate, privateKey: privateKey.revealText() }
  return createStatusReader({ servers, ca, credentials }, options)
}

/** Milliseconds. A healthy API answers at once; longer than usual, as there is no other source. */
const requestTimeoutMs = 15_000

function createStatusReader(
  access: KubeApiAccess,
  { signal, ...controllers }: StatusReaderOptions,
): StatusReader {
  const client = new KubeClient({ ...access, signal })
  return {
    servers: access.servers,
    read: async (now) => readReportedStatus(client, controllers, now, { signal, timeout: requestTimeoutMs }),
    [Symbol.dispose]: () => client.close(),
  }
}
