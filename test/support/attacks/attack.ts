import { sendHttps } from '../../../lab/cluster/kube-api.ts'
import type { UpCluster } from '../up-cluster.ts'
import type { Loot, StolenCredential } from './stolen-credentials.ts'

export type Attacker =
  | 'tenant with edit rights'
  | 'pod escape on a worker'
  | 'root on a worker'
  | 'root on a control plane'
  | 'thief of cluster.identity'
  | 'thief of a snapshot'
  | 'hostile mirror'
  | 'hostile SSH endpoint'
  | 'removed host'

/** The cluster under attack. */
export interface AttackContext {
  readonly cluster: UpCluster
  /** Everything that root finds on the compromised worker w1. */
  readonly loot: Loot
  /** Everything that root finds on w2. Attacks use single files of it, as if these files had leaked. */
  readonly otherLoot: Loot
}

/** Origin of the API server that attackers use. */
export function getApiOrigin({ cluster }: Pick<AttackContext, 'cluster'>): string {
  return `https://${cluster.hosts[0]?.address}:6443`
}

/** How an attempt ended. `details` is the answer of the attacked server. */
export interface AttackResult {
  readonly refused: boolean
  readonly details: string
}

export interface Attack {
  readonly attacker: Attacker
  /** What the attacker tries, for example `kube-system/traefik: list all Secrets`. */
  readonly what: string
  readonly run: () => Promise<AttackResult>
}

export interface ApiAttempt {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Statuses with which an API server or a kubelet refuses a request. */
const refusals = new Set([401, 403])

/**
 * Sends a request with stolen credentials. Writes are dry runs: the server authorizes and admits them as
 * usual, but stores nothing.
 */
export async function attemptRequest(
  origin: string,
  credential: StolenCredential | undefined,
  attempt: ApiAttempt,
): Promise<AttackResult> {
  const sent = await sendRequest(origin, credential, attempt).catch((error: unknown) => {
    // A server that does not trust the certificate ends the TLS handshake.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (/^(ERR_SSL|ECONNRESET|ECONNREFUSED|EPROTO)/.test(code)) return { status: 0, text: code }
    throw error
  })
  const details = `${sent.status} ${sent.text.slice(0, 200)}`
  if (sent.status === 0 || refusals.has(sent.status)) return { refused: true, details }
  if (sent.status >= 200 && sent.status < 300) return { refused: false, details }
  // Any other status says nothing about authorization, so the attempt itself is not valid.
  throw new Error(`${attempt.method} ${attempt.path}: ${details}`)
}

async function sendRequest(
  origin: string,
  credential: StolenCredential | undefined,
  { method, path, body, headers = {} }: ApiAttempt,
): ReturnType<typeof sendHttps> {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const options = {
    method,
    // An attacker does not verify the certificate of the server.
    rejectUnauthorized: false,
    agent: false,
    headers: {
      'content-type': contentType,
      ...(credential?.kind === 'token' ? { authorization: `Bearer ${credential.token}` } : {}),
      ...headers,
    },
    ...(credential?.kind === 'certificate' ? { cert: credential.certificate, key: credential.key } : {}),
  }
  return sendHttps(origin, path, options, body)
}
