import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { array, assert, integer, property, record, string } from 'fast-check'
import { expect, test } from 'vitest'
import type { ProbeCheck } from '../../../contract/probe.ts'
import { toSocketPath } from './grpc-connections.ts'
import { readBytesFields, readFields, readNumberField, readTextField } from './grpc.ts'
import type { ProbeResult } from './probe-runner.ts'
import { createProber } from './prober.ts'
import { createFakeProbeDeps, testComponent, testProbe } from './testing/fake-probe-deps.ts'

type FakeResponse =
  | { readonly message: string }
  | { readonly status: string; readonly text?: string }
  | 'silent'
  | 'cut'

interface FakeRuntime extends AsyncDisposable {
  readonly endpoint: string
  readonly paths: readonly string[]
  /** Number of connections so far. */
  connections: number
  response: FakeResponse
}

/**
 * Starts a fake container runtime that serves gRPC on a socket, like containerd. The message of `response` is
 * given in hex.
 */
async function startRuntime(response: FakeResponse): Promise<FakeRuntime> {
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
    send(stream, made.response)
  })
  server.listen(path)
  await once(server, 'listening')
  const made: FakeRuntime = {
    endpoint: `unix://${path}`,
    paths,
    connections: 0,
    response,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy()
      server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return made
}

function send(stream: ServerHttp2Stream, response: FakeResponse): void {
  if (response === 'silent') return
  if (response === 'cut') return stream.session?.destroy()
  if ('status' in response) {
    const { status: code, text = 'it%20is%20late' } = response
    stream.respond({ 'grpc-status': code, 'grpc-message': text }, { endStream: true })
    return
  }
  const message = Buffer.from(response.message, 'hex')
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(Buffer.concat([head, message]))
}

/** Encodes conditions of runtime.v1: type, status and reason. */
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

async function runProbe(check: ProbeCheck, timeout = 2000): Promise<ProbeResult> {
  using probes = createProber(createFakeProbeDeps())
  const { signal } = new AbortController()
  const result = await probes.run(
    testProbe(check, { timeoutMs: timeout }),
    testComponent('containerd'),
    signal,
  )
  return result
}

test('a serving server is healthy, and its probes share one connection', async () => {
  await using server = await startRuntime({ message: '0801' })
  using probes = createProber(createFakeProbeDeps())
  const probe = testProbe({ kind: 'grpc', endpoint: server.endpoint })
  const { signal } = new AbortController()
  for (const _ of [1, 2, 3])
    expect(await probes.run(probe, testComponent('x'), signal)).toEqual({ state: 'healthy' })
  expect(server.paths[0]).toBe('/grpc.health.v1.Health/Check')
  expect(server.connections).toBe(1)
})

test('a server that does not serve or returns an error status is unhealthy', async () => {
  await using server = await startRuntime({ message: '0802' })
  const check = { kind: 'grpc', endpoint: server.endpoint } as const
  expect(await runProbe(check)).toMatchObject({ state: 'unhealthy', code: 'HEALTH_CHECK_FAILED' })
  server.response = { status: '12' }
  expect(await runProbe(check)).toEqual({
    state: 'unhealthy',
    code: 'HEALTH_CHECK_FAILED',
    message: 'it is late',
  })
  server.response = { status: '12', text: '100% late' }
  expect(await runProbe(check)).toMatchObject({ code: 'HEALTH_CHECK_FAILED', message: '100% late' })
})

test('a server that does not respond fails at the timeout, and the next probe opens another connection', async () => {
  await using server = await startRuntime('silent')
  using probes = createProber(createFakeProbeDeps())
  const probe = testProbe({ kind: 'grpc', endpoint: server.endpoint }, { timeoutMs: 100 })
  const { signal } = new AbortController()
  expect(await probes.run(probe, testComponent('x'), signal)).toEqual({
    state: 'unhealthy',
    code: 'HEALTH_NO_RESPONSE',
    message: 'no answer within 100 ms',
  })
  server.response = { message: '0801' }
  expect(await probes.run({ ...probe, timeoutMs: 2000 }, testComponent('x'), signal)).toEqual({
    state: 'healthy',
  })
  expect(server.connections).toBe(2)
})

test('a missing socket and a closed connection are no response', async () => {
  const absent = await runProbe({ kind: 'grpc', endpoint: 'unix:///nowhere/socket' })
  expect(absent).toMatchObject({
    state: 'unhealthy',
    code: 'HEALTH_NO_RESPONSE',
    message: expect.stringContaining('ENOENT'),
  })
  await using server = await startRuntime('cut')
  expect(await runProbe({ kind: 'grpc', endpoint: server.endpoint })).toMatchObject({
    code: 'HEALTH_NO_RESPONSE',
  })
})

test('a CRI probe checks the condition of the runtime, or of the pod network if requested', async () => {
  const conditions = [
    ['RuntimeReady', true, ''],
    ['NetworkReady', false, 'NetworkPluginNotReady'],
  ] as const
  await using server = await startRuntime({ message: status(...conditions) })
  const { endpoint } = server
  expect(await runProbe({ kind: 'cri', endpoint })).toEqual({ state: 'healthy' })
  expect(server.paths).toEqual(['/runtime.v1.RuntimeService/Status'])
  expect(await runProbe({ kind: 'cri', endpoint, network: true })).toEqual({
    state: 'unhealthy',
    code: 'RUNTIME_NO_NETWORK',
    message: 'NetworkPluginNotReady',
  })
  server.response = { message: status(['RuntimeReady', false, 'starting'], ['NetworkReady', true, '']) }
  expect(await runProbe({ kind: 'cri', endpoint })).toMatchObject({
    code: 'RUNTIME_NOT_READY',
    message: 'starting',
  })
  expect(await runProbe({ kind: 'cri', endpoint, network: true })).toEqual({ state: 'healthy' })
  server.response = { message: '' }
  expect(await runProbe({ kind: 'cri', endpoint })).toMatchObject({
    message: 'it does not report the condition RuntimeReady',
  })
})

test('endpoints of sockets and pipes are converted to paths', () => {
  expect(toSocketPath('unix:///run/containerd/containerd.sock')).toBe('/run/containerd/containerd.sock')
  expect(toSocketPath('npipe:////./pipe/containerd-containerd')).toBe(
    String.raw`\\.\pipe\containerd-containerd`,
  )
})

/** Examples from the protocol buffers documentation: 150 in field 1 and `testing` in field 2. */
const example = Buffer.from('089601120774657374696e67', 'hex')

test('number and text fields of a message are decoded', () => {
  expect(readNumberField(example, 1)).toBe(150)
  expect(readTextField(example, 2)).toBe('testing')
  expect([...readFields(example)].map(({ number }) => number)).toEqual([1, 2])
})

test('missing fields have default values', () => {
  expect(readNumberField(example, 3)).toBe(0)
  expect(readTextField(example, 3)).toBe('')
  expect(readBytesFields(example, 1)).toEqual([])
})

test('fields of fixed length are skipped', () => {
  const long = Buffer.concat([Buffer.from([0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4]), example])
  expect(readTextField(long, 2)).toBe('testing')
})

test('a truncated message, an endless number and an unknown field type are errors', () => {
  expect(() => [...readFields(example.subarray(0, -1))]).toThrow('truncated')
  expect(() => [...readFields(Buffer.alloc(20, 0xff))]).toThrow('too long')
  expect(() => [...readFields(Buffer.from([0x0b]))]).toThrow('type 3')
})

test('all encoded text fields are decoded', () => {
  const field = record({
    number: integer({ min: 1, max: 500_000 }),
    text: string({ unit: 'grapheme' }),
  })
  assert(
    property(array(field), (fields) => {
      const message = Buffer.concat(
        fields.map(({ number, text }) => {
          const bytes = Buffer.from(text)
          return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
        }),
      )
      const read = [...readFields(message)].map(({ number, value }) => ({
        number,
        text: value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : '',
      }))
      expect(read).toEqual(fields)
    }),
  )
})

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}
