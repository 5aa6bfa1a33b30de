import { expect, test } from 'vitest'
import type { Event } from '../../contract/event.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { CommandContext } from '../command/command.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { Interrupted } from '../command/prompts.ts'
import {
  type RunSummary,
  type RunReporter,
  runWithProgress,
  type RunSettings,
  type CommandOutcome,
} from './run-with-progress.ts'
import { createOpFixture } from '../render/testing/fixtures.ts'

const settings: RunSettings = {
  command: 'up',
  cluster: 'shop',
  progress: 'plain',
  debug: false,
  detail: 'normal',
}
const done: CommandOutcome = { code: 0, result: { outcome: 'done' } }

interface ObservedRun {
  readonly ended: RunSummary
  readonly stderr: string
  readonly log: readonly Event[]
}

async function run(
  task: (run: RunReporter) => Promise<CommandOutcome>,
  settingsOverrides: Partial<RunSettings> = {},
  overrides: Partial<CommandContext> = {},
): Promise<ObservedRun> {
  const { context, collectResult } = createInMemoryContext({})
  const log: Event[] = []
  const runLogs = {
    open: () => ({
      path: '/logs/1',
      problem: undefined,
      onEvent: (event: Event) => void log.push(event),
      close() {},
    }),
    list: () => [],
    read: () => '',
  }
  const result = await runWithProgress(
    { ...context, commandLogs: runLogs, ...overrides },
    { ...settings, ...settingsOverrides },
    task,
  )
  return { ended: result, stderr: collectResult(0).stderr, log }
}

function listTypes(log: readonly Event[]): string[] {
  return log.map(({ body }) => body.type)
}

test('events are emitted from the start of a run to its end, and counted', async () => {
  const op = createOpFixture('etcd', 'create', 'file', '/etc/hyperkube/etcd/ca.crt')
  const { ended, log, stderr } = await run(async ({ emit }) => {
    emit({ type: 'op-ended', op, result: { outcome: 'done' } }, { host: 'w1' })
    emit({ type: 'op-ended', op, result: { outcome: 'unchanged' } }, { host: 'w2' })
    return done
  })
  expect(ended).toEqual({ code: 0, ops: 1, changedHosts: ['w1'], seconds: 0, log: '/logs/1' })
  expect(listTypes(log)).toEqual(['run-started', 'op-ended', 'op-ended', 'run-ended'])
  expect(stderr).toBe('')
})

test('a failure is printed with its hint, how to continue, and the path of the log', async () => {
  const error = new HyperkubeError('CLAIM_HELD', 'anna holds the claim', { hint: 'wait' })
  const { ended, stderr, log } = await run(async () => Promise.reject(error))
  expect(ended.code).toBe(1)
  expect(stderr).toBe(`✗ CLAIM_HELD: anna holds the claim
  → wait
failed after 0 ms, nothing was changed
  → fix the errors above, then run: hyperkube up
the log of this run: /logs/1
`)
  expect(log.at(-1)?.body).toMatchObject({ result: { outcome: 'failed', failure: { code: 'CLAIM_HELD' } } })
})

test('several failures at once are not unexpected errors', async () => {
  const errors = ['w1', 'w2'].map((host) => new HyperkubeError('SSH_LOST', 'it is gone', { host }))
  const { stderr } = await run(async () => Promise.reject(new AggregateError(errors, '2 of 3 failed')))
  expect(stderr).toContain('✗ SSH_LOST: 2 of 3 failed\n      w1: it is gone\n      w2: it is gone\n')
  expect(stderr).not.toContain('bug in hyperkube')
})

test('an unexpected error asks for a report with the log, and shows its stack with --debug', async () => {
  const task = async (): Promise<CommandOutcome> => Promise.reject(new TypeError('x is not a function'))
  const { ended, stderr } = await run(task)
  expect(ended.code).toBe(1)
  expect(stderr).toContain(
    '✗ UNEXPECTED: x is not a function\n  → this is a bug in hyperkube; report it with the log of this run',
  )
  expect(stderr).not.toContain('run-with-progress.test.ts')
  expect((await run(task, { debug: true })).stderr).toContain('run-with-progress.test.ts')
})

test('an interrupt is reported at once, and the exit code is 130', async () => {
  const interruption = new AbortController()
  const { ended, stderr, log } = await run(
    async () => {
      interruption.abort()
      interruption.signal.throwIfAborted()
      return done
    },
    {},
    { signal: interruption.signal },
  )
  expect(ended.code).toBe(130)
  expect(listTypes(log)).toEqual(['run-started', 'stopping', 'run-ended'])
  expect(stderr).toContain('interrupted: finishing the current operations, then releasing the operator lock')
  expect(stderr).toContain('→ to resume: hyperkube up\n')
})

test('an interrupt at a prompt ends the run with exit code 130', async () => {
  const { ended, log } = await run(async () => Promise.reject(new Interrupted()))
  expect(ended.code).toBe(130)
  expect(log.at(-1)?.body).toEqual({ type: 'run-ended', result: { outcome: 'interrupted' } })
})

test('a passed deadline is reported as TIMEOUT, whatever error follows', async () => {
  const deadline = new AbortController()
  const { ended, stderr, log } = await run(
    async () => {
      deadline.abort(new HyperkubeError('TIMEOUT', 'it did not end within 5.0 s'))
      throw new Error('the connection was closed')
    },
    {},
    { signal: deadline.signal },
  )
  expect(ended.code).toBe(1)
  expect(log[1]?.body).toEqual({ type: 'stopping', because: 'timeout' })
  expect(stderr).toContain('✗ TIMEOUT: it did not end within 5.0 s\n')
})

test('--progress json prints every event as a line and nothing else', async () => {
  const { stderr, log } = await run(
    async ({ print }) => {
      print('text for people\n')
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

test('a run without a log continues with a warning', async () => {
  const runLogs = {
    open: () => ({ path: undefined, problem: 'EACCES', onEvent: () => undefined, close: () => undefined }),
    list: () => [],
    read: () => '',
  }
  const { ended, stderr } = await run(async () => done, {}, { commandLogs: runLogs })
  expect(ended).toMatchObject({ code: 0, log: undefined })
  expect(stderr).toContain('warning RUN_LOG_NOT_WRITTEN: cannot write the log of this run: EACCES\n')
})

test('the tree needs a terminal, and is off with --debug', async () => {
  const screen = { size: () => ({ columns: 80, rows: 24 }) }
  const task = async ({ emit }: RunReporter): Promise<CommandOutcome> => {
    emit({ type: 'steps-planned', steps: [{ step: 'reach', title: 'reach w1', hosts: ['w1'] }] })
    return done
  }
  const isTree = async (
    settingsOverrides: Partial<RunSettings>,
    overrides: Partial<CommandContext>,
  ): Promise<boolean> => (await run(task, settingsOverrides, overrides)).stderr.includes('\u001B[?25l')
  expect(await isTree({ progress: 'auto' }, { screen })).toBe(true)
  expect(await isTree({ progress: 'auto', debug: true }, { screen })).toBe(false)
  expect(await isTree({ progress: 'tree', debug: true }, { screen })).toBe(true)
  expect(await isTree({ progress: 'plain' }, { screen })).toBe(false)
  expect(await isTree({ progress: 'tree' }, {})).toBe(false)
})

test('-q prints findings and failures, and no progress', async () => {
  const task = async ({ emit }: RunReporter): Promise<CommandOutcome> => {
    emit({ type: 'step-started', step: 'prepare' })
    emit({ type: 'finding', finding: { code: 'HOST_SWAP', severity: 'warning', message: 'swap is on' } })
    throw new HyperkubeError('SERVICE_FAILED', 'kubelet.service does not start')
  }
  const { stderr } = await run(task, { detail: 'quiet' })
  expect(stderr).toContain('warning HOST_SWAP: swap is on')
  expect(stderr).toContain('SERVICE_FAILED')
  expect(stderr).not.toContain('prepare')
  expect((await run(task, {})).stderr).toContain('prepare')
})
