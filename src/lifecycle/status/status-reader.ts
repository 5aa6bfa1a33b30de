import type { Identity } from '../../identity/identity.ts'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { KubeClient } from '../../kube/client.ts'
import { type KubeApiAccess, parseKubeconfig } from '../../kube/kubeconfig.ts'
import { issueOperatorCredentials } from '../operator-credentials.ts'
import { type ControllerSettings, type ReportedStatus, readReportedStatus } from './reported-status.ts'

/** Reads the status that a cluster reports through its API, without ssh. */
export interface StatusReader extends Disposable {
  readonly servers: readonly string[]
  read(now: Date): Promise<ReportedStatus>
}

export interface StatusReaderOptions extends ControllerSettings {
  readonly signal: AbortSignal
}

/** Creates a reader from the text of a kubeconfig. */
export function createKubeconfigStatusReader(
  kubeconfig: string,
  file: string,
  options: StatusReaderOptions,
): StatusReader {
  return createStatusReader(parseKubeconfig(kubeconfig, file), options)
}

export interface IdentityAccess {
  readonly identity: Identity
  /** Name of the operator. */
  readonly operator: string
  /** URLs of the API servers, as operators reach them. */
  readonly servers: readonly string[]
  readonly now: Date
}

/** Creates a reader from the identity of the cluster. It connects directly to the API servers. */
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

/**
 * A healthy API answers at once. The timeout is longer than usual, because there is no other source of the
 * status.
 */
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
