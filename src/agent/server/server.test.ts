import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AgentRequest } from '../../contract/request.ts'
import type { Healer } from '../heal/healer.ts'
import { createNetworkProbe } from '../network-probe/network-probe.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'
import { readLines } from '../../kit/lines.ts'
import { RunEventLog } from '../runs/run-event-log.ts'
import { Runs } from '../runs/runs.ts'
import { bridgeToAgent } from './bridge.ts'
import { type AgentServer, serveAgent } from './server.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const ana = { holder: 'ana', generation: 1 }

let directory: string
let server: AgentServer
let runs: Runs

/** Fake operations without any effect on a host. */
const work: HostOperations = {
  facts: async () => Promise.reject(new Error('not here')),
  diff: async () => ({ ops: [], findings: [] }),
  previousPlan: async () => undefined,
  certificates: async () => [],
  certificateRequests: async () => ({}),
  apply: async () => undefined,
  stopServices: async () => undefined,
  restoreEtcdData: async () => undefined,
  wipeEtcd: async () => undefined,
  activeRestore: async () => undefined,
  agentInstallation: async () => undefined,
  endRestore: async () => undefined,
  provisional: async () => undefined,
  beginProvisional: async (change) => ({ ...change, state: 'provisional' }),
  moveProvisional: async () => undefined,
  confirmProvisional: async () => undefined,
  rollback: async () => undefined,
  reset: async (_run, emit) => {
    emit({ type: 'log', lines: ['gone'] })
    return undefined
  },
  returnHost: async () => undefined,
  unfinishedMoves: async () => [],
  returnUnfinishedMoves: async () => undefined,
}

/** Fake healer of a host without an applied plan. */
const healer: Healer = {
  health: async (fresh) => ({
    at: new Date(0).toISOString(),
    healPolicy: 'default',
    ...(fresh ? { suspended: 'every probe was asked' } : {}),
    budget: { used: 0, max: 10, windowMs: 600_000 },
    components: [],
    probes: [],
    actions: [],
  }),
  pause: async (milliseconds, by) =>
    milliseconds === 0 ? undefined : { until: new Date(milliseconds).toISOString(), by },
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  runs = new Runs('cp1', new RunEventLog(join(directory, 'runs')), () => new Date(0))
  const claims = await OperatorLockStore.open(join(directory, 'claim.json'), () => 0)
  server = await serveAgent(
    { work, runs, claims, peers: createNetworkProbe(), healer, version: '0.1.0' },
    join(directory, 'run', 'agent.sock'),
  )
})
afterEach(async () => {
  await runs.stop()
  await server.close()
  await rm(directory, { recursive: true, force: true })
})

/** Sends requests over one connection and returns the responses. */
async function sendRequests(...bodies: readonly AgentRequest['body'][]): Promise<unknown[]> {
  return send(
    bodies.map((one) => JSON.stringify({ apiVersion: 'hyperkube.dev/v1', kind: 'AgentRequest', body: one })),
  )
}

async function send(texts: readonly string[]): Promise<unknown[]> {
  const socket = connect(join(directory, 'run', 'agent.sock'))
  socket.end(texts.map((text) => `${text}\n`).join(''))
  return receive(socket)
}

async function receive(socket: Socket): Promise<unknown[]> {
  const responses = []
  for await (const line of readLines(socket)) responses.push(JSON.parse(line))
  return responses
}

test('only root can connect', async () => {
  const modes = [join(directory, 'run'), join(directory, 'run', 'agent.sock')].map(
    async (path) => (await stat(path)).mode & 0o777,
  )
  expect(await Promise.all(modes)).toEqual([0o700, 0o600])
})

test('requests are handled one after the other, and attach returns the events of a run', async () => {
  const responses = await sendRequests(
    { type: 'claim', claim: ana, force: false },
    { type: 'reset', claim: ana, run },
    { type: 'attach', run, from: 1 },
    { type: 'release', claim: ana },
  )
  expect(responses).toMatchObject([
    { body: { type: 'claimed', claim: ana } },
    { body: { type: 'running', run } },
    { body: { type: 'run-started' }, sequence: 1, host: 'cp1' },
    { body: { type: 'log', lines: ['gone'] }, sequence: 2 },
    { body: { type: 'run-ended', result: { outcome: 'done' } }, sequence: 3 },
    { body: { type: 'released' } },
  ])
})

test('hello returns the version and the lock holder', async () => {
  expect(
    await sendRequests({ type: 'hello' }, { type: 'claim', claim: ana, force: false }, { type: 'hello' }),
  ).toMatchObject([
    { body: { type: 'hello', version: '0.1.0' } },
    { body: { type: 'claimed' } },
    { body: { type: 'hello', claim: ana } },
  ])
})

test('work without the operator lock is refused, and the response names the holder', async () => {
  const bob = { holder: 'bob', generation: 2 }
  await sendRequests({ type: 'claim', claim: ana, force: false })
  expect(
    await sendRequests({ type: 'reset', claim: bob, run }, { type: 'claim', claim: bob, force: false }),
  ).toMatchObject([
    { body: { type: 'refused', code: 'CLAIM_LOST', holder: ana } },
    { body: { type: 'refused', code: 'CLAIM_HELD', holder: ana } },
  ])
  expect(
    await sendRequests({ type: 'claim', claim: bob, force: true }, { type: 'reset', claim: ana, run }),
  ).toMatchObject([
    { body: { type: 'claimed', claim: bob } },
    { body: { type: 'refused', code: 'CLAIM_LOST', holder: bob } },
  ])
})

test('the operator lock survives a restart of the agent', async () => {
  await sendRequests({ type: 'claim', claim: ana, force: false })
  const again = await OperatorLockStore.open(join(directory, 'claim.json'), () => 0)
  expect(again.held).toMatchObject(ana)
})

test('an invalid request is refused, and so is a request that fails', async () => {
  expect(await send(['{"kind": "Nonsense"}', 'not even JSON'])).toMatchObject([
    { body: { type: 'refused', code: 'CONTRACT_OTHER_KIND' } },
    { body: { type: 'refused', code: 'UNEXPECTED' } },
  ])
  expect(await sendRequests({ type: 'facts', host: 'cp1' })).toMatchObject([
    { body: { type: 'refused', code: 'UNEXPECTED', message: 'not here' } },
  ])
})

test('before the server closes, every client gets its complete response, and no client is left waiting', async () => {
  const step = Promise.withResolvers<void>()
  await runs.start(run, 'apply', async () => step.promise)
  const [idle, attached] = [0, 1].map(() => connect(join(directory, 'run', 'agent.sock')))
  if (idle === undefined || attached === undefined) throw new Error('no connection')
  const attach = { type: 'attach', run, from: 1 }
  attached.write(
    `${JSON.stringify({ apiVersion: 'hyperkube.dev/v1', kind: 'AgentRequest', body: attach })}\n`,
  )
  // Both clients keep their sending side open, like the client of an operator, which may send more requests.
  const received = receive(attached)
  const silence = receive(idle)
  await new Promise((resolve) => attached.once('data', resolve))
  const stopped = runs.stop()
  step.resolve()
  await stopped
  await server.close()
  expect(await received).toMatchObject([
    { body: { type: 'run-started' } },
    { body: { type: 'run-ended', result: { outcome: 'done' } } },
  ])
  expect(await silence).toEqual([])
})

test('the time and network probes are available without the operator lock', async () => {
  const token = '9f86d081884c7d659a2feaa0c55ad015'
  const address = '127.77.0.1'
  const responses = await sendRequests(
    { type: 'clock' },
    { type: 'listen', address, tcp: [2380], udp: [], token, for: 30_000 },
    { type: 'probe', targets: [{ protocol: 'tcp', address, port: 2380, token }] },
    { type: 'stop-listening', token },
    { type: 'probe', targets: [{ protocol: 'tcp', address, port: 2380, token }] },
  )
  expect(responses).toMatchObject([
    { body: { type: 'clock', time: expect.any(Number) } },
    { body: { type: 'listening', tcp: [2380], udp: [] } },
    { body: { type: 'probed', results: [{ outcome: 'ok' }] } },
    { body: { type: 'stopped-listening' } },
    { body: { type: 'probed', results: [{ outcome: 'refused' }] } },
  ])
})

test('only the lock holder begins a provisional change, or ends one', async () => {
  const [id, deadline] = ['22222222-2222-4222-8222-222222222222', '2026-11-15T12:10:00.000Z']
  const provisional = { id, plan: 'c'.repeat(64), deadline, rollbackDelayMs: 0 }
  const bodies = [
    { type: 'begin-provisional', claim: ana, provisional },
    { type: 'move-provisional', claim: ana, id, deadline },
    { type: 'confirm-provisional', claim: ana, id },
  ] as const
  const lost = { body: { type: 'refused', code: 'CLAIM_LOST' } }
  expect(await sendRequests(...bodies)).toMatchObject([lost, lost, lost])
  expect(await sendRequests({ type: 'claim', claim: ana, force: false }, ...bodies)).toMatchObject([
    { body: { type: 'claimed' } },
    { body: { type: 'provisional', provisional: { ...provisional, state: 'provisional' } } },
    { body: { type: 'provisional' } },
    { body: { type: 'provisional' } },
  ])
})

test('health can be read and healing paused without the operator lock', async () => {
  const responses = await sendRequests(
    { type: 'health' },
    { type: 'health', fresh: true },
    { type: 'pause-healing', for: 60_000, by: 'ana' },
    { type: 'pause-healing', for: 0, by: 'ana' },
  )
  const health = { at: '1970-01-01T00:00:00.000Z', healPolicy: 'default', components: [] }
  expect(responses).toMatchObject([
    { body: { type: 'health', health } },
    { body: { type: 'health', health: { ...health, suspended: 'every probe was asked' } } },
    { body: { type: 'healing', paused: { until: '1970-01-01T00:01:00.000Z', by: 'ana' } } },
    { body: { type: 'healing' } },
  ])
})

test('with a key, only clients that know it are served', async () => {
  const path = join(directory, 'run', 'pipe.sock')
  const claims = await OperatorLockStore.open(join(directory, 'other-claim.json'), () => 0)
  const key = randomBytes(32)
  const withKey = await serveAgent(
    { work, runs, claims, peers: createNetworkProbe(), healer, version: '0.1.0' },
    path,
    key,
  )
  const hello = JSON.stringify({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AgentRequest',
    body: { type: 'hello' },
  })
  const callAs = async (clientKey: Buffer): Promise<string[]> => {
    const responses: string[] = []
    await bridgeToAgent({
      path,
      key: clientKey,
      requests: Readable.from([`${hello}\n`]),
      onResponse: (line) => void responses.push(line),
      signal: AbortSignal.timeout(5000),
    })
    return responses
  }
  try {
    expect(JSON.parse((await callAs(key)).join(''))).toMatchObject({ body: { type: 'hello' } })
    await expect(callAs(randomBytes(32))).rejects.toMatchObject({ code: 'AGENT_NOT_VERIFIED' })
    const socket = connect(path)
    socket.end(`${hello}\n`)
    expect(await receive(socket)).toEqual([])
  } finally {
    await withKey.close()
  }
})
