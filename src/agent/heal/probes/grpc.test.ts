import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ProbeCheck } from '../../../contract/probe.ts'
import type { Seen } from '../probe-result.ts'
import { pathOf } from './grpc-connections.ts'
import { prober } from './prober.ts'
import { testComponent, testEdges, testProbe } from './testing/fake-probe-deps.ts'

type Answer = { readonly message: string } | { readonly status: string } | 'silent' | 'cut'

interface Runtime extends AsyncDisposable {
  readonly endpoint: string
  readonly paths: readonly string[]
  /** How many connections there were. */
  connections: number
  answer: Answer
}

/** Speaks as containerd does, and answers what a test says, in hex. */
async function runtime(answer: Answer): Promise<Runtime> {
  const directory = await mkdtemp(join(tmpdir(), 'runtime-'))
  const path = join(directory, 'socket')
  const paths: string[] = []
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    made.connections += 1
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    paths.push(String(headers[':path']))
    send(stream, made.answer)
  })
  server.listen(path)
  await once(server, 'listening')
  const made: Runtime = {
    endpoint: `unix://${path}`,
    paths,
    connections: 0,
    answer,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy()
      server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return made
}

function send(stream: ServerHttp2Stream, answer: Answer): void {
  if (answer === 'silent') return
  if (answer === 'cut') return stream.session?.destroy()
  if ('status' in answer) {
    stream.respond({ 'grpc-status': answer.status, 'grpc-message': 'it%20is%20late' }, { endStream: true })
    return
  }
  const message = Buffer.from(answer.message, 'hex')
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(Buffer.concat([head, message]))
}

/** As in runtime.v1: types, states, and why. */
function status(...conditions: readonly (readonly [type: string, ready: boolean, reason: string])[]): string {
  const text = (field: number, value: string): string =>
    `${hex(field * 8 + 2)}${hex(value.length)}${Buffer.from(value).toString('hex')}`
  const message = (field: number, body: string): string =>
    `${hex(field * 8 + 2)}${hex(body.length / 2)}${body}`
  const all = conditions.map(([type, ready, reason]) =>
    message(1, text(1, type) + (ready ? '1001' : '') + text(3, reason)),
  )
  return message(1, all.join(''))
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}

async function ask(check: ProbeCheck, timeout = 2000): Promise<Seen> {
  using one = prober(testEdges())
  const { signal } = new AbortController()
  const seen = await one.ask(testProbe(check, { timeout }), testComponent('containerd'), signal)
  return seen
}

test('a server that serves is well, over one connection', async () => {
  await using server = await runtime({ message: '0801' })
  using one = prober(testEdges())
  const probe = testProbe({ kind: 'grpc', endpoint: server.endpoint })
  const { signal } = new AbortController()
  for (const _ of [1, 2, 3])
    expect(await one.ask(probe, testComponent('x'), signal)).toEqual({ state: 'well' })
  expect(server.paths[0]).toBe('/grpc.health.v1.Health/Check')
  expect(server.connections).toBe(1)
})

test('a server that does not serve says so, and one that refuses is not well', async () => {
  await using server = await runtime({ message: '0802' })
  const check = { kind: 'grpc', endpoint: server.endpoint } as const
  expect(await ask(check)).toMatchObject({ state: 'failed', code: 'HEALTH_UNWELL' })
  server.answer = { status: '12' }
  expect(await ask(check)).toEqual({ state: 'failed', code: 'HEALTH_UNWELL', seen: 'it is late' })
})

test('who takes connections and says nothing is found by the time, and asked anew by another connection', async () => {
  await using server = await runtime('silent')
  using one = prober(testEdges())
  const probe = testProbe({ kind: 'grpc', endpoint: server.endpoint }, { timeout: 100 })
  const { signal } = new AbortController()
  expect(await one.ask(probe, testComponent('x'), signal)).toEqual({
    state: 'failed',
    code: 'HEALTH_NO_ANSWER',
    seen: 'no answer within 100 ms',
  })
  server.answer = { message: '0801' }
  expect(await one.ask({ ...probe, timeout: 2000 }, testComponent('x'), signal)).toEqual({ state: 'well' })
  expect(server.connections).toBe(2)
})

test('nobody there, and one that cuts, are no answer', async () => {
  const nobody = await ask({ kind: 'grpc', endpoint: 'unix:///nowhere/socket' })
  expect(nobody).toMatchObject({ state: 'failed', code: 'HEALTH_NO_ANSWER' })
  expect(nobody).toHaveProperty('seen', expect.stringContaining('ENOENT'))
  await using server = await runtime('cut')
  expect(await ask({ kind: 'grpc', endpoint: server.endpoint })).toMatchObject({ code: 'HEALTH_NO_ANSWER' })
})

test('a runtime is asked about itself, or about the network of pods', async () => {
  const conditions = [
    ['RuntimeReady', true, ''],
    ['NetworkReady', false, 'NetworkPluginNotReady'],
  ] as const
  await using server = await runtime({ message: status(...conditions) })
  const { endpoint } = server
  expect(await ask({ kind: 'cri', endpoint })).toEqual({ state: 'well' })
  expect(server.paths).toEqual(['/runtime.v1.RuntimeService/Status'])
  expect(await ask({ kind: 'cri', endpoint, network: true })).toEqual({
    state: 'failed',
    code: 'RUNTIME_NO_NETWORK',
    seen: 'NetworkPluginNotReady',
  })
  server.answer = { message: status(['RuntimeReady', false, 'starting'], ['NetworkReady', true, '']) }
  expect(await ask({ kind: 'cri', endpoint })).toMatchObject({ code: 'RUNTIME_NOT_READY', seen: 'starting' })
  expect(await ask({ kind: 'cri', endpoint, network: true })).toEqual({ state: 'well' })
  server.answer = { message: '' }
  expect(await ask({ kind: 'cri', endpoint })).toMatchObject({ seen: 'it does not say RuntimeReady' })
})

test('sockets and pipes are called by the names under which they are opened', () => {
  expect(pathOf('unix:///run/containerd/containerd.sock')).toBe('/run/containerd/containerd.sock')
  expect(pathOf('npipe:////./pipe/containerd-containerd')).toBe(String.raw`\\.\pipe\containerd-containerd`)
})
