import type { ServerResponse } from 'node:http'
import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import type { KubeObject } from '../object.ts'

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

interface LoggedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly version: number
  readonly object: KubeObject
}

/**
 * A fake collection that handles each request as the next script entry says. After the last entry it works
 * normally.
 */
export class FakeWatchApi {
  readonly objects = new Map<string, KubeObject>()
  /** All events since the start. */
  readonly log: LoggedEvent[] = []
  #version = 10
  /** Events up to this version are compacted. */
  #compacted = 0
  readonly #script: ScriptedRequest[]
  readonly #streams = new Map<ServerResponse, number>()

  constructor(script: readonly ScriptedRequest[] = []) {
    this.#script = [...script]
  }

  get requestsLeft(): number {
    return this.#script.length
  }

  readonly respond = ({ query }: ReceivedRequest): TestResponse => {
    const scripted = this.#script.shift()
    this.write(scripted?.before ?? [])
    const refusal = scripted === undefined ? undefined : refusals[scripted.fault]
    if (scripted?.fault === 'compacted') this.compact()
    if (query.get('watch') !== 'true') return this.#list(query, scripted?.fault, refusal)
    if (refusal !== undefined) return refusal
    const from = Number(query.get('resourceVersion'))
    if (from < this.#compacted)
      return { by: (response) => startResponse(response).end(formatEvent('ERROR', expired)) }
    return { by: (response) => this.#watch(response, from, scripted) }
  }

  write(writes: readonly ObjectWrite[]): void {
    for (const { name, act } of writes) {
      if (act === 'put') this.put(name)
      else this.remove(name)
    }
  }

  put(name: string): void {
    const old = this.objects.get(name)
    const version = ++this.#version
    const metadata = {
      name,
      namespace: 'default',
      uid: old?.metadata.uid ?? `u${version}`,
      resourceVersion: String(version),
    }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
    this.objects.set(name, object)
    this.#log({ type: old === undefined ? 'ADDED' : 'MODIFIED', version, object })
  }

  remove(name: string): void {
    const old = this.objects.get(name)
    if (old === undefined) return
    this.objects.delete(name)
    const version = ++this.#version
    const object = { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } }
    this.#log({ type: 'DELETED', version, object })
  }

  /** Compacts all events that were logged so far. */
  compact(): void {
    this.#compacted = this.#version
  }

  #log(event: LoggedEvent): void {
    this.log.push(event)
    for (const response of this.#streams.keys()) this.#send(response)
  }

  /**
   * Responds with one page. A continue token contains the version of the first page and the last name of the
   * previous page.
   */
  #list(
    query: URLSearchParams,
    fault: WatchFault | undefined,
    refusal: TestResponse | undefined,
  ): TestResponse {
    const [token = String(this.#version), after = ''] = query.get('continue')?.split(' ') ?? []
    if (query.has('continue') && (Number(token) < this.#compacted || fault === 'gone')) return refusals.gone
    if (refusal !== undefined && fault !== 'gone') return refusal
    if (fault === 'reset' || fault === 'half a line') {
      return { cut: fault === 'reset' ? 'before' : 'middle' }
    }
    if (fault === 'garbage') return { status: 200, text: '{"items' }
    if (fault === 'silence') return { silent: true }
    const all = this.#asOf(Number(token)).filter(({ metadata }) => metadata.name > after)
    const items = all.slice(0, Number(query.get('limit') ?? all.length))
    const last = items.length < all.length ? items.at(-1)?.metadata.name : undefined
    const rest = last === undefined ? {} : { continue: `${token} ${last}` }
    return { json: { metadata: { resourceVersion: token, ...rest }, items } }
  }

  #asOf(version: number): KubeObject[] {
    const objects = new Map<string, KubeObject>()
    for (const event of this.log.filter((one) => one.version <= version)) {
      const { name } = event.object.metadata
      if (event.type === 'DELETED') objects.delete(name)
      else objects.set(name, event.object)
    }
    return [...objects.values()].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  #watch(response: ServerResponse, from: number, scripted: ScriptedRequest | undefined): void {
    startResponse(response)
    this.#streams.set(response, from)
    response.on('close', () => this.#streams.delete(response))
    this.#send(response)
    if (scripted === undefined) {
      const metadata = { resourceVersion: String(this.#version) }
      response.write(formatEvent('BOOKMARK', { kind: 'ConfigMap', apiVersion: 'v1', metadata }))
      return
    }
    this.write(scripted.during)
    this.#streams.delete(response)
    applyFault(response, scripted.fault)
  }

  /** Sends the events that a stream has not received yet. */
  #send(response: ServerResponse): void {
    const sentVersion = this.#streams.get(response) ?? 0
    for (const { type, version, object } of this.log) {
      if (version > sentVersion) response.write(formatEvent(type, object))
    }
    this.#streams.set(response, this.#version)
  }
}

const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
const internal = { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd' }

const gone: TestResponse = { status: 410, json: expired }
const refusals: { readonly gone: TestResponse } & Readonly<Partial<Record<WatchFault, TestResponse>>> = {
  gone,
  crowded: { status: 429, headers: { 'retry-after': '0' }, text: 'too many requests' },
  broken: { status: 500, json: internal },
}

function startResponse(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
  return response
}

function formatEvent(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}

function applyFault(response: ServerResponse, fault: WatchFault): void {
  if (fault === 'silence') return
  if (fault === 'garbage') response.end('\u0000 not an event\n')
  else if (fault === 'another event') response.end(formatEvent('SURPRISE', {}))
  else if (fault === 'gone as an event') response.end(formatEvent('ERROR', expired))
  else if (fault === 'broken as an event') response.end(formatEvent('ERROR', internal))
  else if (fault === 'half a line') response.end('{"type":"ADDED","object":{"met')
  // The connection is reset only after all data was written. Otherwise the client would receive nothing.
  else if (fault === 'reset') response.write('{"type":"MOD', () => response.socket?.destroy())
  else response.end()
}
