import type { z } from 'zod'
import type { Pem, TlsCredentials } from '../kit/credentials.ts'
import type { Dial } from '../kit/tunnel.ts'
import { type DatabasePiece, parseDatabasePieces } from './database-pieces.ts'
import { EtcdError } from './etcd-error.ts'
import { type EtcdCallOptions, Gateway, type GatewayResponse } from './gateway.ts'
import type { Alarm, KeyCount, MemberHealth, MemberList, MemberStatus } from './member.ts'
import {
  alarmResponse,
  buildCountRequest,
  countResponse,
  memberListResponse,
  statusResponse,
} from './wire.ts'

export interface EtcdClientOptions {
  /** Client URLs, for example https://10.0.0.1:2379. The endpoint that last responded is tried first. */
  readonly endpoints: readonly string[]
  readonly ca: Pem
  readonly credentials: Omit<TlsCredentials, 'ca'>
  /** Aborts all requests of the client. */
  readonly signal: AbortSignal
  /** Opens the connections to members, for example over SSH. Default: direct connections. */
  readonly dial?: Dial | undefined
  /** Maximum number of connections to one member. More requests wait for each other. Default: no limit. */
  readonly maxConnections?: number | undefined
}

export interface MembersOptions extends EtcdCallOptions {
  /** If true, the member list may come from a single member without a quorum. */
  readonly unconfirmed?: boolean
}

/**
 * Client of one etcd cluster. Reads go to any reachable member. The functions that change the cluster are in
 * changes.ts.
 */
export class EtcdClient implements Disposable {
  readonly #gateway: Gateway
  #endpoints: readonly string[]

  constructor({ endpoints, ca, credentials, signal, dial, maxConnections }: EtcdClientOptions) {
    // Removes trailing slashes, because request paths begin with a slash.
    this.#endpoints = endpoints.map((url) => url.replace(/\/+$/, ''))
    this.#gateway = new Gateway({ ca, ...credentials }, signal, dial, maxConnections)
  }

  async members({ unconfirmed = false, ...options }: MembersOptions = {}): Promise<MemberList> {
    return this.read('cluster/member/list', { linearizable: !unconfirmed }, memberListResponse, options)
  }

  /** Returns the active alarms. etcd reports alarms only with a quorum. */
  async alarms(options: EtcdCallOptions = {}): Promise<readonly Alarm[]> {
    return this.read('maintenance/alarm', { action: 'GET' }, alarmResponse, options)
  }

  /** Returns the status of the member at this endpoint. */
  async status(endpoint: string, options: EtcdCallOptions = {}): Promise<MemberStatus> {
    return this.#gateway.post(endpoint, 'maintenance/status', {}, statusResponse, options)
  }

  /** Returns the health of the member at this endpoint. Throws only on abort. */
  async health(endpoint: string, options: EtcdCallOptions = {}): Promise<MemberHealth> {
    return readMemberHealth(async (path) => this.#gateway.get(endpoint, path, options))
  }

  /** Returns the metrics of the member at this endpoint, as text. */
  async metrics(endpoint: string, options: EtcdCallOptions = {}): Promise<string> {
    return (await this.#gateway.get(endpoint, '/metrics', options)).text
  }

  /** Counts the keys in the local data of the member at this endpoint. */
  async countKeys(endpoint: string, options: EtcdCallOptions = {}): Promise<KeyCount> {
    return this.#gateway.post(endpoint, 'kv/range', buildCountRequest(), countResponse, options)
  }

  /** Streams the whole database of the member at this endpoint, followed by etcd's SHA-256 digest. */
  database(endpoint: string, options: EtcdCallOptions = {}): AsyncIterable<DatabasePiece> {
    return parseDatabasePieces(this.#gateway.stream(endpoint, 'maintenance/snapshot', {}, options), endpoint)
  }

  /** Sends a read to each endpoint in turn until one succeeds. */
  async read<T>(path: string, body: object, schema: z.ZodType<T>, options: EtcdCallOptions = {}): Promise<T> {
    return this.#tryEndpoints(
      path,
      () => true,
      async (endpoint) => this.#gateway.post(endpoint, path, body, schema, options),
    )
  }

  /** Sends a change. The next endpoint is tried only if the previous one cannot have executed the change. */
  async change<T>(
    path: string,
    body: object,
    schema: z.ZodType<T>,
    options: EtcdCallOptions = {},
  ): Promise<T> {
    return this.#tryEndpoints(
      path,
      ({ sent }) => !sent,
      async (endpoint) => this.#gateway.post(endpoint, path, body, schema, options),
    )
  }

  /** Sends a change to this endpoint only. */
  async changeAt<T>(
    endpoint: string,
    path: string,
    body: object,
    schema: z.ZodType<T>,
    options: EtcdCallOptions = {},
  ): Promise<T> {
    return this.#gateway.post(endpoint, path, body, schema, options)
  }

  async #tryEndpoints<T>(
    what: string,
    canTryNext: (error: EtcdError) => boolean,
    attempt: (endpoint: string) => Promise<T>,
  ): Promise<T> {
    const errors: EtcdError[] = []
    for (const endpoint of this.#endpoints) {
      try {
        const response = await attempt(endpoint)
        this.#endpoints = [endpoint, ...this.#endpoints.filter((other) => other !== endpoint)]
        return response
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error
        errors.push(error)
        // If etcd refuses a request, the other members would refuse it as well.
        if (error.code === 'ETCD_REFUSED' || !canTryNext(error)) break
      }
    }
    throw combineErrors(what, errors)
  }

  /** Closes all connections. */
  close(): void {
    this.#gateway.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

function combineErrors(what: string, errors: readonly EtcdError[]): EtcdError {
  const [lastError] = errors.slice(-1)
  if (lastError === undefined) return new EtcdError('ETCD_UNREACHABLE', `${what}: there are no endpoints`)
  if (errors.length === 1 || lastError.code === 'ETCD_REFUSED') return lastError
  return new EtcdError(lastError.code, `${what}: the request failed on all ${errors.length} members`, {
    cause: new AggregateError(errors, 'their errors'),
    sent: errors.some(({ sent }) => sent),
  })
}

/** Reads the health of a member from its /livez and /readyz pages. */
async function readMemberHealth(getPage: (path: string) => Promise<GatewayResponse>): Promise<MemberHealth> {
  const [live, ready] = await Promise.all([checkPage(getPage, '/livez'), checkPage(getPage, '/readyz')])
  const failing = [...new Set([...live.failing, ...ready.failing])]
  return { live: live.ok, ready: live.ok && ready.ok, failing, reason: ready.reason ?? live.reason }
}

interface PageCheck {
  readonly ok: boolean
  readonly failing: readonly string[]
  readonly reason: string | undefined
}

async function checkPage(
  getPage: (path: string) => Promise<GatewayResponse>,
  path: string,
): Promise<PageCheck> {
  try {
    const { status, text } = await getPage(`${path}?verbose`)
    if (status === 200) return { ok: true, failing: [], reason: undefined }
    const lines = [...text.matchAll(/^\[-\](\S+) failed: (.*)$/gm)]
    const reasons = lines.map(([, name, cause]) => `${name}: ${cause}`)
    return {
      ok: false,
      failing: lines.map(([, name = '']) => name),
      reason: reasons.length > 0 ? reasons.join('; ') : `${path} returns ${status}`,
    }
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error
    return { ok: false, failing: [], reason: error.message }
  }
}
