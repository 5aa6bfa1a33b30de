import { expect, test } from 'vitest'
import type { Event } from '../contract/event.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Context } from './command.ts'
import { inMemory } from './testing/run-in-memory.ts'
import { Interrupted } from './prompts.ts'
import {
  type EndedRun,
  type ReportedRun,
  reportedRun,
  type RunSettings,
  type Verdict,
} from './run-with-progress.ts'
import { opOf } from './render/testing/fixtures.ts'

const settings: RunSettings = { command: 'up', cluster: 'shop', progress: 'plain', debug: false }
const done: Verdict = { code: 0, result: { outcome: 'done' } }

interface Seen {
  readonly ended: EndedRun
  readonly stderr: string
  readonly log: readonly Event[]
}

async function run(
  act: (run: ReportedRun) => Promise<Verdict>,
  more: Partial<RunSettings> = {},
  world: Partial<Context> = {},
): Promise<Seen> {
  const { context, ended } = inMemory({})
  const log: Event[] = []
  const runLogs = {
    open: () => ({
      path: '/logs/1',
      problem: undefined,
      heard: (event: Event) => void log.push(event),
      close() {},
    }),
  }
  const result = await reportedRun({ ...context, runLogs, ...world }, { ...settings, ...more }, act)
  return { ended: result, stderr: ended(0).stderr, log }
}

function typesOf(log: readonly Event[]): string[] {
  return log.map(({ what }) => what.type)
}

test('a run is told from its beginning to its end, and counted', async () => {
  const op = opOf('etcd', 'create', 'file', '/etc/hyperkube/etcd/ca.crt')
  const { ended, log, stderr } = await run(async ({ tell }) => {
    tell({ type: 'op-ended', op, result: { outcome: 'done' } }, { host: 'w1' })
    tell({ type: 'op-ended', op, result: { outcome: 'unchanged' } }, { host: 'w2' })
    return done
  })
  expect(ended).toEqual({ code: 0, ops: 1, changedHosts: ['w1'], seconds: 0, log: '/logs/1' })
  expect(typesOf(log)).toEqual(['run-started', 'op-ended', 'op-ended', 'run-ended'])
  expect(stderr).toBe('')
})

test('a failure is told with its hint, how to go on, and where the log is', async () => {
  const error = new HyperkubeError('CLAIM_HELD', 'anna holds the claim', { hint: 'wait' })
  const { ended, stderr, log } = await run(async () => Promise.reject(error))
  expect(ended.code).toBe(1)
  expect(stderr).toBe(`✗ CLAIM_HELD: anna holds the claim
  → wait
failed after 0 ms, nothing was changed
  → once that is mended: hyperkube up
the log of this run: /logs/1
`)
  expect(log.at(-1)?.what).toMatchObject({ result: { outcome: 'failed', failure: { code: 'CLAIM_HELD' } } })
})

test('several at once are failures that were foreseen', async () => {
  const errors = ['w1', 'w2'].map((host) => new HyperkubeError('SSH_LOST', 'it is gone', { host }))
  const { stderr } = await run(async () => Promise.reject(new AggregateError(errors, '2 of 3 failed')))
  expect(stderr).toContain('✗ SSH_LOST: 2 of 3 failed\n      w1: it is gone\n      w2: it is gone\n')
  expect(stderr).not.toContain('mistake of ours')
})

test('what nobody foresaw is to be reported with the log, and shows its origin when asked to', async () => {
  const act = async (): Promise<Verdict> => Promise.reject(new TypeError('x is not a function'))
  const { ended, stderr } = await run(act)
  expect(ended.code).toBe(1)
  expect(stderr).toContain(
    '✗ UNEXPECTED: x is not a function\n  → this is a mistake of ours; please report it',
  )
  expect(stderr).not.toContain('reported-run.test.ts')
  expect((await run(act, { debug: true })).stderr).toContain('reported-run.test.ts')
})

test('an interruption is told when it comes, and ends with 130', async () => {
  const person = new AbortController()
  const { ended, stderr, log } = await run(
    async () => {
      person.abort()
      person.signal.throwIfAborted()
      return done
    },
    {},
    { signal: person.signal },
  )
  expect(ended.code).toBe(130)
  expect(typesOf(log)).toEqual(['run-started', 'stopping', 'run-ended'])
  expect(stderr).toContain(
    'interrupted: finishing what is being done, then giving the claim on the cluster back',
  )
  expect(stderr).toContain('→ hyperkube up goes on from here\n')
})

test('so does one in answer to a question', async () => {
  const { ended, log } = await run(async () => Promise.reject(new Interrupted()))
  expect(ended.code).toBe(130)
  expect(log.at(-1)?.what).toEqual({ type: 'run-ended', result: { outcome: 'interrupted' } })
})

test('a deadline is a failure, whatever it led to', async () => {
  const clock = new AbortController()
  const { ended, stderr, log } = await run(
    async () => {
      clock.abort(new HyperkubeError('TIMEOUT', 'it did not end within 5.0 s'))
      throw new Error('the connection was closed')
    },
    {},
    { signal: clock.signal },
  )
  expect(ended.code).toBe(1)
  expect(log[1]?.what).toEqual({ type: 'stopping', because: 'timeout' })
  expect(stderr).toContain('✗ TIMEOUT: it did not end within 5.0 s\n')
})

test('for programs every event is a line, and nothing else is there', async () => {
  const { stderr, log } = await run(
    async ({ say }) => {
      say('text for people\n')
      return { code: 1, result: { outcome: 'failed', failure: { code: 'X', message: 'y' } } }
    },
    { progress: 'json' },
  )
  const lines: unknown[] = stderr
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
  expect(lines).toEqual(log)
})

test('without a log the run goes on, and says so', async () => {
  const runLogs = {
    open: () => ({ path: undefined, problem: 'EACCES', heard: () => undefined, close: () => undefined }),
  }
  const { ended, stderr } = await run(async () => done, {}, { runLogs })
  expect(ended).toMatchObject({ code: 0, log: undefined })
  expect(stderr).toContain('warning RUN_LOG_NOT_WRITTEN: no log of this run is kept: EACCES\n')
})

test('the tree is for terminals, and not when errors shall be traced', async () => {
  const screen = { size: () => ({ columns: 80, rows: 24 }) }
  const act = async ({ tell }: ReportedRun): Promise<Verdict> => {
    tell({ type: 'steps-planned', steps: [{ step: 'reach', title: 'reach w1', hosts: ['w1'] }] })
    return done
  }
  const isTree = async (more: Partial<RunSettings>, world: Partial<Context>): Promise<boolean> =>
    (await run(act, more, world)).stderr.includes('\u001B[?25l')
  expect(await isTree({ progress: 'auto' }, { screen })).toBe(true)
  expect(await isTree({ progress: 'auto', debug: true }, { screen })).toBe(false)
  expect(await isTree({ progress: 'tree', debug: true }, { screen })).toBe(true)
  expect(await isTree({ progress: 'plain' }, { screen })).toBe(false)
  expect(await isTree({ progress: 'tree' }, {})).toBe(false)
})
