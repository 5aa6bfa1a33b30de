import type { ServerResponse } from 'node:http'
import type { Asked, TestAnswer } from '../../kit/testing/https-test-server.ts'
import type { KubeObject } from '../object.ts'

/** What may become of a connection, once as much was said as it was to say. */
export const faults = [
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
export type Fault = (typeof faults)[number]

/** An object of this name is made or changed, or removed if it is there. */
export interface Act {
  readonly name: string
  readonly act: 'put' | 'remove'
}

/** What the API does when it is asked. */
export interface Turn {
  /** Before it looks at what it was asked. */
  readonly before: readonly Act[]
  /** While a watch is being answered; a list is already. */
  readonly during: readonly Act[]
  readonly fault: Fault
}

interface Happening {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly version: number
  readonly object: KubeObject
}

/** A collection as the API keeps it, and an API that does with each request what the next turn says. Without turns it is well. */
export class TestWatchApi {
  readonly objects = new Map<string, KubeObject>()
  /** All that ever happened. */
  readonly log: Happening[] = []
  #version = 10
  /** What happened up to here is forgotten. */
  #compacted = 0
  readonly #turns: Turn[]
  readonly #streams = new Map<ServerResponse, number>()

  constructor(turns: readonly Turn[] = []) {
    this.#turns = [...turns]
  }

  get turnsLeft(): number {
    return this.#turns.length
  }

  readonly answer = ({ query }: Asked): TestAnswer => {
    const turn = this.#turns.shift()
    this.act(turn?.before ?? [])
    const refusal = turn === undefined ? undefined : refusals[turn.fault]
    if (turn?.fault === 'compacted') this.compact()
    if (query.get('watch') !== 'true') return this.#list(query, turn?.fault, refusal)
    if (refusal !== undefined) return refusal
    const from = Number(query.get('resourceVersion'))
    if (from < this.#compacted) return { by: (response) => begin(response).end(line('ERROR', expired)) }
    return { by: (response) => this.#watch(response, from, turn) }
  }

  act(acts: readonly Act[]): void {
    for (const { name, act } of acts) {
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
    this.#happened({ type: old === undefined ? 'ADDED' : 'MODIFIED', version, object })
  }

  remove(name: string): void {
    const old = this.objects.get(name)
    if (old === undefined) return
    this.objects.delete(name)
    const version = ++this.#version
    const object = { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } }
    this.#happened({ type: 'DELETED', version, object })
  }

  /** Forgets what has happened so far. */
  compact(): void {
    this.#compacted = this.#version
  }

  #happened(happening: Happening): void {
    this.log.push(happening)
    for (const response of this.#streams.keys()) this.#send(response)
  }

  /** The token of a page is the version that the first one was of, and the name before the next one. */
  #list(query: URLSearchParams, fault: Fault | undefined, refusal: TestAnswer | undefined): TestAnswer {
    const [token = String(this.#version), after = ''] = query.get('continue')?.split(' ') ?? []
    if (query.has('continue') && (Number(token) < this.#compacted || fault === 'gone')) return refusals.gone
    if (refusal !== undefined && fault !== 'gone') return refusal
    if (fault === 'reset' || fault === 'half a line') {
      return { cut: fault === 'reset' ? 'before' : 'within' }
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
    const then = new Map<string, KubeObject>()
    for (const happening of this.log.filter((one) => one.version <= version)) {
      const { name } = happening.object.metadata
      if (happening.type === 'DELETED') then.delete(name)
      else then.set(name, happening.object)
    }
    return [...then.values()].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  #watch(response: ServerResponse, from: number, turn: Turn | undefined): void {
    begin(response)
    this.#streams.set(response, from)
    response.on('close', () => this.#streams.delete(response))
    this.#send(response)
    if (turn === undefined) {
      const metadata = { resourceVersion: String(this.#version) }
      response.write(line('BOOKMARK', { kind: 'ConfigMap', apiVersion: 'v1', metadata }))
      return
    }
    this.act(turn.during)
    this.#streams.delete(response)
    spoil(response, turn.fault)
  }

  /** What a stream has not had yet. */
  #send(response: ServerResponse): void {
    const had = this.#streams.get(response) ?? 0
    for (const { type, version, object } of this.log) {
      if (version > had) response.write(line(type, object))
    }
    this.#streams.set(response, this.#version)
  }
}

const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
const internal = { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd' }

const gone: TestAnswer = { status: 410, json: expired }
const refusals: { readonly gone: TestAnswer } & Readonly<Partial<Record<Fault, TestAnswer>>> = {
  gone,
  crowded: { status: 429, headers: { 'retry-after': '0' }, text: 'too many requests' },
  broken: { status: 500, json: internal },
}

function begin(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
  return response
}

function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}

function spoil(response: ServerResponse, fault: Fault): void {
  if (fault === 'silence') return
  if (fault === 'garbage') response.end('\u0000 not an event\n')
  else if (fault === 'another event') response.end(line('SURPRISE', {}))
  else if (fault === 'gone as an event') response.end(line('ERROR', expired))
  else if (fault === 'broken as an event') response.end(line('ERROR', internal))
  else if (fault === 'half a line') response.end('{"type":"ADDED","object":{"met')
  // Not before all that was written is sent: otherwise nothing would ever come.
  else if (fault === 'reset') response.write('{"type":"MOD', () => response.socket?.destroy())
  else response.end()
}
