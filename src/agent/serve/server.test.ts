import { mkdtemp, rm, stat } from 'node:fs/promises'
import { connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AgentRequest } from '../../contract/request.ts'
import type { HostWork } from './answer.ts'
import { ClaimStore } from './claim-store.ts'
import { lines } from './lines.ts'
import { RunLog } from './run-log.ts'
import { Runs } from './runs.ts'
import { serveAgent } from './server.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const ana = { holder: 'ana', generation: 1 }

let directory: string
let server: Server
let runs: Runs

/** Of the host's work only that it was asked for. */
const work: HostWork = {
  facts: async () => Promise.reject(new Error('not here')),
  diff: async () => ({ ops: [], findings: [] }),
  certificateRequests: async () => ({}),
  apply: async () => undefined,
  reset: async (emit) => emit({ type: 'log', lines: ['gone'] }),
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  runs = new Runs('cp1', new RunLog(join(directory, 'runs')), () => new Date(0))
  const claims = await ClaimStore.open(join(directory, 'claim.json'), () => 0)
  server = await serveAgent({ work, runs, claims, version: '0.1.0' }, join(directory, 'run', 'agent.sock'))
})
afterEach(async () => {
  server.close()
  await runs.stop()
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
