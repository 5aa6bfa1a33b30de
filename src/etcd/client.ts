import type { z } from 'zod'
import { alarmAnswer, countAnswer, memberListAnswer, statusAnswer } from './responses.ts'
import type { Credentials, Pem } from '../kit/credentials.ts'
import { EtcdError } from './etcd-error.ts'
import { type CallOptions, Gateway } from './gateway.ts'
import { healthOf } from './health-page.ts'
import type { Dial } from '../kit/tunnel-agent.ts'
import { allKeys } from './count-request.ts'
import type { Alarm, KeyCount, MemberHealth, MemberList, MemberStatus } from './member.ts'
import { type DatabasePiece, databasePieces } from './database-pieces.ts'

export interface EtcdClientOptions {
  /** https://10.0.0.1:2379: asked in this order, beginning with the one that answered last. */
  readonly endpoints: readonly string[]
  readonly authority: Pem
  readonly credentials: Omit<Credentials, 'authority'>
  /** Ends all that the client does. */
  readonly signal: AbortSignal
  /** How members are reached, where not directly. */
  readonly dial?: Dial | undefined
}

export interface MembersOptions extends CallOptions {
  /** What one member remembers, when there is no quorum to ask. */
  readonly unconfirmed?: boolean
}

/** Asks one etcd, at whichever of its members answers. What changes it is in changes.ts. */
export class EtcdClient implements Disposable {
  readonly #gateway: Gateway
  #endpoints: readonly string[]

  constructor({ endpoints, authority, credentials, signal, dial }: EtcdClientOptions) {
    // Paths begin with a slash.
    this.#endpoints = endpoints.map((url) => url.replace(/\/+$/, ''))
    this.#gateway = new Gateway({ authority, ...credentials }, signal, dial)
  }

  async members({ unconfirmed = false, ...options }: MembersOptions = {}): Promise<MemberList> {
    return this.read('cluster/member/list', { linearizable: !unconfirmed }, memberListAnswer, options)
  }

  /** Those that are raised. etcd says so only with a quorum. */
  async alarms(options: CallOptions = {}): Promise<readonly Alarm[]> {
    return this.read('maintenance/alarm', { action: 'GET' }, alarmAnswer, options)
  }

  /** Of the member at this endpoint. */
  async status(endpoint: string, options: CallOptions = {}): Promise<MemberStatus> {
    return this.#gateway.post(endpoint, 'maintenance/status', {}, statusAnswer, options)
  }

  /** Of the member at this endpoint. Never fails, but for an abort. */
  async health(endpoint: string, options: CallOptions = {}): Promise<MemberHealth> {
    return healthOf(async (path) => this.#gateway.page(endpoint, path, options))
  }

  /** Of the member at this endpoint, from what it has itself. */
  async countKeys(endpoint: string, options: CallOptions = {}): Promise<KeyCount> {
    return this.#gateway.post(endpoint, 'kv/range', allKeys(), countAnswer, options)
  }

  /** The whole database of the member at this endpoint, as it is now, with etcd's own digest at its end. */
  database(endpoint: string, options: CallOptions = {}): AsyncIterable<DatabasePiece> {
    return databasePieces(this.#gateway.stream(endpoint, 'maintenance/snapshot', {}, options), endpoint)
  }

  /** Something that any of them can say: asked of each until one does. */
  async read<T>(path: string, body: object, schema: z.ZodType<T>, options: CallOptions = {}): Promise<T> {
    return this.#inTurn(
      path,
      () => true,
      async (endpoint) => this.#gateway.post(endpoint, path, body, schema, options),
    )
  }

  /** Something to be done once: the next one is asked only when the one before cannot have done it. */
  async change<T>(path: string, body: object, schema: z.ZodType<T>, options: CallOptions = {}): Promise<T> {
    return this.#inTurn(
      path,
      ({ sent }) => !sent,
      async (endpoint) => this.#gateway.post(endpoint, path, body, schema, options),
    )
  }

  /** The same at one endpoint and no other. */
  async changeAt<T>(
    endpoint: string,
    path: string,
    body: object,
    schema: z.ZodType<T>,
    options: CallOptions = {},
  ): Promise<T> {
    return this.#gateway.post(endpoint, path, body, schema, options)
  }

  async #inTurn<T>(
    what: string,
    mayGoOn: (error: EtcdError) => boolean,
    attempt: (endpoint: string) => Promise<T>,
  ): Promise<T> {
    const errors: EtcdError[] = []
    for (const endpoint of this.#endpoints) {
      try {
        const answer = await attempt(endpoint)
        this.#endpoints = [endpoint, ...this.#endpoints.filter((other) => other !== endpoint)]
        return answer
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error
        errors.push(error)
        // The others would say the same.
        if (error.code === 'ETCD_REFUSED' || !mayGoOn(error)) break
      }
    }
    throw failureOf(what, errors)
  }

  /** Lets go of its connections. */
  close(): void {
    this.#gateway.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

function failureOf(what: string, errors: readonly EtcdError[]): EtcdError {
  const [end] = errors.slice(-1)
  if (end === undefined) return new EtcdError('ETCD_UNREACHABLE', `${what}: there is nobody to ask`)
  if (errors.length === 1 || end.code === 'ETCD_REFUSED') return end
  return new EtcdError(end.code, `${what}: none of ${errors.length} members did it`, {
    cause: new AggregateError(errors, 'in turn'),
    sent: errors.some(({ sent }) => sent),
  })
}
