import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { until } from '../../kit/poll-until.ts'
import { RunLog } from './run-event-log.ts'
import { failureOf, Runs } from './runs.ts'

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const other = '0d0f6f4e-1b9f-4f6c-8a53-5a2b1b0c9d8e'
const never = new AbortController().signal

let directory: string
let runs: Runs

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'runs-'))
  runs = agent()
})
afterEach(async () => {
  await runs.stop()
  await rm(directory, { recursive: true, force: true })
})

function agent(): Runs {
  return new Runs('cp1', new RunLog(directory), () => new Date(0))
}

async function told(by: Runs, id = run, from = 1): Promise<string[]> {
  const events = await Array.fromAsync(by.attach(id, from, never))
  return events.map(({ sequence, what }) =>
    what.type === 'run-ended' ? `${sequence} ended ${what.result.outcome}` : `${sequence} ${what.type}`,
  )
}

test('a run is told of while it goes on, and afterwards', async () => {
  const step = Promise.withResolvers<void>()
  await runs.start(run, 'apply', async (emit) => {
    await step.promise
    emit({ type: 'log', lines: ['half way'] }, 'etcd')
  })
  const live = told(runs)
  step.resolve()
  const all = ['1 run-started', '2 log', '3 ended done']
  expect(await live).toEqual(all)
  expect(await told(runs)).toEqual(all)
  expect(await told(runs, run, 3)).toEqual(['3 ended done'])
})

test('who comes late for a run that took its own log along hears of it all the same', async () => {
  await runs.start(run, 'reset', async () => rm(directory, { recursive: true }))
  await until('it to be over', async () => !runs.busy, { within: 5000, every: 1 })
  expect(await told(runs)).toEqual(['1 run-started', '2 ended done'])
})

test('one run is done after the other', async () => {
  const order: string[] = []
  const first = Promise.withResolvers<void>()
  await runs.start(run, 'apply', async () => {
    await first.promise
    order.push('first')
  })
  await runs.start(other, 'apply', async () => void order.push('second'))
  first.resolve()
  await told(runs, other)
  expect(order).toEqual(['first', 'second'])
})

test('the same run is never begun twice', async () => {
  let times = 0
  const work = async (): Promise<void> => void times++
  await runs.start(run, 'apply', work)
  await runs.start(run, 'apply', work)
  await told(runs)
  await runs.start(run, 'apply', work)
  // The next one comes when this one is over, and what it knows is what was written down.
  await runs.stop()
  await agent().start(run, 'apply', work)
  expect(times).toBe(1)
})

test('a failure is told with its code and hint, and the next run goes on', async () => {
  await runs.start(run, 'apply', async () => {
    throw new HyperkubeError('SERVICE_FAILED', 'it ended', { component: 'etcd', hint: 'look' })
  })
  const events = await Array.fromAsync(runs.attach(run, 2, never))
  const failure = { code: 'SERVICE_FAILED', message: 'etcd: it ended', hint: 'look' }
  expect(events.map(({ what }) => what)).toEqual([
    { type: 'run-ended', result: { outcome: 'failed', failure } },
  ])
  await runs.start(other, 'apply', async () => undefined)
  expect(await told(runs, other)).toEqual(['1 run-started', '2 ended done'])
})

test('of a run that the agent died over the end is said all the same', async () => {
  await runs.start(run, 'apply', async (_, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    signal.throwIfAborted()
  })
  const file = join(directory, `${run}.ndjson`)
  await until('its beginning to be written down', async () => (await readFile(file, 'utf8')).endsWith('\n'), {
    within: 10_000,
    every: 1,
  })
  await appendFile(file, '{"unfinished')
  expect(await told(agent())).toEqual(['1 run-started', '2 ended interrupted'])
  // Also to somebody who had heard more than the agent could write down.
  expect(await told(agent(), run, 5)).toEqual(['5 ended interrupted'])
})

test('nobody knows of a run that never was', async () => {
  await expect(told(runs)).rejects.toThrow('knows nothing of the run')
})

test('a run that takes the host away is told to its end, and is the last', async () => {
  const order: string[] = []
  const left = Promise.withResolvers<void>()
  const step = Promise.withResolvers<void>()
  await runs.start(run, 'reset', async () => {
    await step.promise
    await rm(directory, { recursive: true })
    return async () => {
      order.push('left')
      left.resolve()
    }
  })
  await runs.start(other, 'apply', async () => void order.push('begun'))
  const events = told(runs)
  const waiting = told(runs, other)
  step.resolve()
  expect(await events).toEqual(['1 run-started', '2 ended done'])
  expect(await waiting).toEqual(['1 run-started', '2 ended interrupted'])
  await left.promise
  expect(order).toEqual(['left'])
  const late = '11111111-2222-4333-8444-555555555555'
  await expect(runs.start(late, 'apply', async () => undefined)).rejects.toThrow('about to end')
  // Nothing of what the reset took away has come back.
  await expect(stat(directory)).rejects.toThrow('ENOENT')
})

test('a farewell that is ended together with the agent does not keep it', async () => {
  await runs.start(run, 'reset', async () => async () => Promise.reject(new Error('ended with 143')))
  expect(await told(runs)).toEqual(['1 run-started', '2 ended done'])
  await runs.stop()
})

test('what cannot be written down is heard all the same', async () => {
  const step = Promise.withResolvers<void>()
  await runs.start(run, 'apply', async (emit) => {
    await step.promise
    await rm(directory, { recursive: true })
    emit({ type: 'log', lines: ['half way'] })
  })
  const live = told(runs)
  step.resolve()
  expect(await live).toEqual(['1 run-started', '2 log', '3 ended done'])
  await runs.start(other, 'apply', async () => undefined)
  expect(await told(runs, other)).toEqual(['1 run-started', '2 ended done'])
})

test('a full disk is told as such, whatever was being written', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  expect(failureOf(full)).toEqual({
    code: 'APPLY_DISK_FULL',
    message: 'no room is left on the disk',
    hint: 'make room on the host: df -h shows which disk is full',
  })
})
