import type { ServerResponse } from 'node:http'
import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import type { KubeObject } from '../object.ts'
import { expiredStatus, FakeKubeApi, formatWatchEvent } from './fake-kube-api.ts'

/** What happens to a connection after its events were sent. */
export const watchFaults = [
  'end',
  'reset',
  'silence',
  'half a line',
  'garbage',
  'another event',
  'gone as an event',
  'broken as an event',
  'gone',
  'crowded',
  'broken',
  'compacted',
] as const
export type WatchFault = (typeof watchFaults)[number]

/** A write of the object with this name: `put` creates or changes it, `remove` deletes it if it exists. */
export interface ObjectWrite {
  readonly name: string
  readonly act: 'put' | 'remove'
}

/** How the fake API handles one request. */
export interface ScriptedRequest {
  /** Writes that happen before the request is handled. */
  readonly before: readonly ObjectWrite[]
  /** Writes that happen while a watch is open. List requests ignore them. */
  readonly during: readonly ObjectWrite[]
  readonly fault: WatchFault
}

const collection = '/api/v1/namespaces/default/configmaps'

/**
 * A fake API with ConfigMaps. It handles each request as the next script entry describes, and works normally
 * after the last entry.
 */
export class WatchScript {
  readonly api = new FakeKubeApi({ revision: 10 })
  readonly #script: ScriptedRequest[]
  #puts = 0

  constructor(script: readonly ScriptedRequest[] = []) {
    this.#script = [...script]
    this.api.onRequest = (request) => this.#handle(request)
  }

  get requestsLeft(): number {
    return this.#script.length
  }

  get objects(): readonly KubeObject[] {
    return this.api.all(collection)
  }

  has(name: string): boolean {
    return this.api.get(`${collection}/${name}`) !== undefined
  }

  /** Creates or changes an object. Each call creates a new version. */
  put(name: string): void {
    const metadata = { labels: { x: 'y' } }
    const data = { put: String(++this.#puts) }
    this.api.put(`${collection}/${name}`, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
  }

  remove(name: string): void {
    this.api.remove(`${collection}/${name}`)
  }

  #write(writes: readonly ObjectWrite[]): void {
    for (const { name, act } of writes) this[act](name)
  }

  #handle(request: ReceivedRequest): TestResponse | undefined {
    const scripted = this.#script.shift()
    if (scripted === undefined) return undefined
    this.#write(scripted.before)
    const { fault } = scripted
    if (fault === 'compacted') this.api.compact()
    if (request.query.get('watch') !== 'true') return buildListFault(fault, request.query.has('continue'))
    return refusals[fault] ?? { by: (response) => this.#watch(response, request, scripted) }
  }

  #watch(response: ServerResponse, request: ReceivedRequest, { during, fault }: ScriptedRequest): void {
    const query = new URLSearchParams(request.query)
    query.delete('allowWatchBookmarks')
    const stop = this.api.openWatch(response, { ...request, query })
    if (stop === undefined) return
    this.#write(during)
    stop()
    applyFault(response, fault)
  }
}

const internalError = { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd' }

const refusals: Readonly<Partial<Record<WatchFault, TestResponse>>> = {
  gone: { status: 410, json: expiredStatus },
  crowded: { status: 429, headers: { 'retry-after': '0' }, text: 'too many requests' },
  broken: { status: 500, json: internalError },
}

/**
 * Returns the faulty response to a list request, or undefined if the request succeeds. The fault `gone`
 * affects only later pages.
 */
function buildListFault(fault: WatchFault, isLaterPage: boolean): TestResponse | undefined {
  if (fault === 'gone') return isLaterPage ? refusals.gone : undefined
  if (fault === 'reset') return { cut: 'before' }
  if (fault === 'half a line') return { cut: 'middle' }
  if (fault === 'garbage') return { status: 200, text: '{"items' }
  if (fault === 'silence') return { silent: true }
  return refusals[fault]
}

function applyFault(response: ServerResponse, fault: WatchFault): void {
  if (fault === 'silence') return
  if (fault === 'garbage') response.end('\u0000 not an event\n')
  else if (fault === 'another event') response.end(formatWatchEvent('SURPRISE', {}))
  else if (fault === 'gone as an event') response.end(formatWatchEvent('ERROR', expiredStatus))
  else if (fault === 'broken as an event') response.end(formatWatchEvent('ERROR', internalError))
  else if (fault === 'half a line') response.end('{"type":"ADDED","object":{"met')
  // The connection is reset only after all data was written. Otherwise the client would receive nothing.
  else if (fault === 'reset') response.write('{"type":"MOD', () => response.socket?.destroy())
  else response.end()
}
