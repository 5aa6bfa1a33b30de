import { mkdtemp, rm, stat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AgentRequest } from '../../contract/request.ts'
import type { Healer } from '../heal/healer.ts'
import { hostPeers } from '../network-probe/network-probe.ts'
import type { HostWork } from './dispatch.ts'
import { ClaimStore } from '../operator-lock/operator-lock-store.ts'
import { lines } from './lines.ts'
import { RunLog } from '../runs/run-event-log.ts'
import { Runs } from '../runs/runs.ts'
import { type AgentServer, serveAgent } from './server.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const ana = { holder: 'ana', generation: 1 }

let directory: string
let server: AgentServer
let runs: Runs

/** Of the host's work only that it was asked for. */
const work: HostWork = {
  facts: async () => Promise.reject(new Error('not here')),
  diff: async () => ({ ops: [], findings: [] }),
  formerPlan: async () => undefined,
  certificates: async () => [],
  certificateRequests: async () => ({}),
  apply: async () => undefined,
  stopServices: async () => undefined,
  placeEtcd: async () => undefined,
  clearEtcd: async () => undefined,
  restoring: async () => undefined,
  endRestore: async () => undefined,
  trial: async () => undefined,
  beginTrial: async (trial) => ({ ...trial, state: 'on-trial' }),
  moveTrial: async () => undefined,
  keepTrial: async () => undefined,
  goBack: async () => undefined,
  reset: async (_run, emit) => {
    emit({ type: 'log', lines: ['gone'] })
    return undefined
  },
}

/** Nobody has taken the host through a plan. */
const healer: Healer = {
  health: async (fresh) => ({
    at: new Date(0).toISOString(),
    ladder: 'usual',
    ...(fresh ? { idle: 'every probe was asked' } : {}),
    budget: { spent: 0, most: 10, within: 600_000 },
    components: [],
    probes: [],
    actions: [],
  }),
  pause: async (milliseconds, by) =>
    milliseconds === 0 ? undefined : { until: new Date(milliseconds).toISOString(), by },
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  runs = new Runs('cp1', new RunLog(join(directory, 'runs')), () => new Date(0))
  const claims = await ClaimStore.open(join(directory, 'claim.json'), () => 0)
  server = await serveAgent(
    { work, runs, claims, peers: hostPeers(), healer, version: '0.1.0' },
    join(directory, 'run', 'agent.sock'),
  )
})
afterEach(async () => {
  await runs.stop()
  await server.close()
  await rm(directory, { recursive: true, force: true })
})

/** The answers to some requests, sent one after the other over one connection. */
async function ask(...asks: readonly AgentRequest['ask'][]): Promise<unknown[]> {
  return send(
    asks.map((one) => JSON.stringify({ apiVersion: 'hyperkube.dev/v1', kind: 'AgentRequest', ask: one })),
  )
}

async function send(texts: readonly string[]): Promise<unknown[]> {
  const socket = connect(join(directory, 'run', 'agent.sock'))
  socket.end(texts.map((text) => `${text}\n`).join(''))
  return heard(socket)
}

async function heard(socket: Socket): Promise<unknown[]> {
  const answers = []
  for await (const line of lines(socket)) answers.push(JSON.parse(line))
  return answers
}

test('is for root alone', async () => {
  const modes = [join(directory, 'run'), join(directory, 'run', 'agent.sock')].map(
    async (path) => (await stat(path)).mode & 0o777,
  )
  expect(await Promise.all(modes)).toEqual([0o700, 0o600])
})

test('answers one request after the other, and tells of a run until its end', async () => {
  const answers = await ask(
    { type: 'claim', claim: ana, force: false },
    { type: 'reset', claim: ana, run },
    { type: 'attach', run, from: 1 },
    { type: 'release', claim: ana },
  )
  expect(answers).toMatchObject([
    { answer: { type: 'claimed', claim: ana } },
    { answer: { type: 'running', run } },
    { what: { type: 'run-started' }, sequence: 1, host: 'cp1' },
    { what: { type: 'log', lines: ['gone'] }, sequence: 2 },
    { what: { type: 'run-ended', result: { outcome: 'done' } }, sequence: 3 },
    { answer: { type: 'released' } },
  ])
})

test('says who it is, and who may ask it for work', async () => {
  expect(
    await ask({ type: 'hello' }, { type: 'claim', claim: ana, force: false }, { type: 'hello' }),
  ).toMatchObject([
    { answer: { type: 'hello', version: '0.1.0' } },
    { answer: { type: 'claimed' } },
    { answer: { type: 'hello', claim: ana } },
  ])
})

test('does nothing for who has no claim, and says who has it', async () => {
  const bob = { holder: 'bob', generation: 2 }
  await ask({ type: 'claim', claim: ana, force: false })
  expect(
    await ask({ type: 'reset', claim: bob, run }, { type: 'claim', claim: bob, force: false }),
  ).toMatchObject([
    { answer: { type: 'refused', code: 'CLAIM_LOST', holder: ana } },
    { answer: { type: 'refused', code: 'CLAIM_HELD', holder: ana } },
  ])
  expect(
    await ask({ type: 'claim', claim: bob, force: true }, { type: 'reset', claim: ana, run }),
  ).toMatchObject([
    { answer: { type: 'claimed', claim: bob } },
    { answer: { type: 'refused', code: 'CLAIM_LOST', holder: bob } },
  ])
})

test('a claim outlives the agent', async () => {
  await ask({ type: 'claim', claim: ana, force: false })
  const again = await ClaimStore.open(join(directory, 'claim.json'), () => 0)
  expect(again.held).toMatchObject(ana)
})

test('what is no request is refused, and so is what goes wrong inside', async () => {
  expect(await send(['{"kind": "Nonsense"}', 'not even JSON'])).toMatchObject([
    { answer: { type: 'refused', code: 'CONTRACT_OTHER_KIND' } },
    { answer: { type: 'refused', code: 'UNEXPECTED' } },
  ])
  expect(await ask({ type: 'facts', host: 'cp1' })).toMatchObject([
    { answer: { type: 'refused', code: 'UNEXPECTED', message: 'not here' } },
  ])
})

test('before it goes everybody hears to the end what they are being told, and nobody is left waiting', async () => {
  const step = Promise.withResolvers<void>()
  await runs.start(run, 'apply', async () => step.promise)
  const [idle, attached] = [0, 1].map(() => connect(join(directory, 'run', 'agent.sock')))
  if (idle === undefined || attached === undefined) throw new Error('no connection')
  const attach = { type: 'attach', run, from: 1 }
  attached.write(`${JSON.stringify({ apiVersion: 'hyperkube.dev/v1', kind: 'AgentRequest', ask: attach })}\n`)
  // Their side stays open, as that of an operator who may want more.
  const told = heard(attached)
  const silence = heard(idle)
  await new Promise((resolve) => attached.once('data', resolve))
  const stopped = runs.stop()
  step.resolve()
  await stopped
  await server.close()
  expect(await told).toMatchObject([
    { what: { type: 'run-started' } },
    { what: { type: 'run-ended', result: { outcome: 'done' } } },
  ])
  expect(await silence).toEqual([])
})

test('tells the time, and meets other hosts without a claim', async () => {
  const token = '9f86d081884c7d659a2feaa0c55ad015'
  const address = '127.77.0.1'
  const answers = await ask(
    { type: 'clock' },
    { type: 'listen', address, tcp: [2380], udp: [], token, for: 30_000 },
    { type: 'probe', targets: [{ protocol: 'tcp', address, port: 2380, token }] },
    { type: 'hush', token },
    { type: 'probe', targets: [{ protocol: 'tcp', address, port: 2380, token }] },
  )
  expect(answers).toMatchObject([
    { answer: { type: 'clock', time: expect.any(Number) } },
    { answer: { type: 'listening', tcp: [2380], udp: [] } },
    { answer: { type: 'probed', results: [{ outcome: 'ok' }] } },
    { answer: { type: 'hushed' } },
    { answer: { type: 'probed', results: [{ outcome: 'refused' }] } },
  ])
})

test('only who has the claim begins a trial, or ends one', async () => {
  const [id, deadline] = ['22222222-2222-4222-8222-222222222222', '2026-11-15T12:10:00.000Z']
  const trial = { id, plan: 'c'.repeat(64), deadline, slot: 0 }
  const asks = [
    { type: 'begin-trial', claim: ana, trial },
    { type: 'move-trial', claim: ana, id, deadline },
    { type: 'keep-trial', claim: ana, id },
  ] as const
  const lost = { answer: { type: 'refused', code: 'CLAIM_LOST' } }
  expect(await ask(...asks)).toMatchObject([lost, lost, lost])
  expect(await ask({ type: 'claim', claim: ana, force: false }, ...asks)).toMatchObject([
    { answer: { type: 'claimed' } },
    { answer: { type: 'trial', trial: { ...trial, state: 'on-trial' } } },
    { answer: { type: 'trial' } },
    { answer: { type: 'trial' } },
  ])
})

test('says how the host is, and leaves it alone for a while, without a claim', async () => {
  const answers = await ask(
    { type: 'health' },
    { type: 'health', fresh: true },
    { type: 'pause-healing', for: 60_000, by: 'ana' },
    { type: 'pause-healing', for: 0, by: 'ana' },
  )
  const health = { at: '1970-01-01T00:00:00.000Z', ladder: 'usual', components: [] }
  expect(answers).toMatchObject([
    { answer: { type: 'health', health } },
    { answer: { type: 'health', health: { ...health, idle: 'every probe was asked' } } },
    { answer: { type: 'healing', paused: { until: '1970-01-01T00:01:00.000Z', by: 'ana' } } },
    { answer: { type: 'healing' } },
  ])
})
