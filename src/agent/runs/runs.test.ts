import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { pollUntil } from '../../kit/poll.ts'
import { RunEventLog } from './run-event-log.ts'
import { toRunFailure, Runs } from './runs.ts'

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
  return new Runs('cp1', new RunEventLog(directory), () => new Date(0))
}

async function readEvents(by: Runs, id = run, from = 1): Promise<string[]> {
  const events = await Array.fromAsync(by.attach(id, from, never))
  return events.map(({ sequence, body }) =>
    body.type === 'run-ended' ? `${sequence} ended ${body.result.outcome}` : `${sequence} ${body.type}`,
  )
}

test('events of a run are available during the run and afterwards', async () => {
  const step = Promise.withResolvers<void>()
  await runs.start(run, 'apply', async (emit) => {
    await step.promise
    emit({ type: 'log', lines: ['half way'] }, 'etcd')
  })
  const live = readEvents(runs)
  step.resolve()
  const all = ['1 run-started', '2 log', '3 ended done']
  expect(await live).toEqual(all)
  expect(await readEvents(runs)).toEqual(all)
  expect(await readEvents(runs, run, 3)).toEqual(['3 ended done'])
})

test('a client that attaches late to a run that deleted its log still gets the events', async () => {
  await runs.start(run, 'reset', async () => rm(directory, { recursive: true }))
  await pollUntil('the run to end', async () => !runs.busy, { timeoutMs: 5000, intervalMs: 1 })
  expect(await readEvents(runs)).toEqual(['1 run-started', '2 ended done'])
})

test('runs are executed one after the other', async () => {
  const order: string[] = []
  const first = Promise.withResolvers<void>()
  await runs.start(run, 'apply', async () => {
    await first.promise
    order.push('first')
  })
  await runs.start(other, 'apply', async () => void order.push('second'))
  first.resolve()
  await readEvents(runs, other)
  expect(order).toEqual(['first', 'second'])
})

test('the same run never starts twice', async () => {
  let times = 0
  const work = async (): Promise<void> => void times++
  await runs.start(run, 'apply', work)
  await runs.start(run, 'apply', work)
  await readEvents(runs)
  await runs.start(run, 'apply', work)
  // The previous agent must have ended before the next agent reads the events from disk.
  await runs.stop()
  await agent().start(run, 'apply', work)
  expect(times).toBe(1)
})

test('of two requests at the same moment with the same run, only one starts it', async () => {
  let times = 0
  const work = async (): Promise<void> => void times++
  await Promise.all([runs.start(run, 'apply', work), runs.start(run, 'apply', work)])
  await runs.stop()
  expect(times).toBe(1)
  expect(await readEvents(agent())).toEqual(['1 run-started', '2 ended done'])
})

test('a failure is reported with its code and hint, and the next run is executed', async () => {
  await runs.start(run, 'apply', async () => {
    throw new HyperkubeError('SERVICE_FAILED', 'it ended', { component: 'etcd', hint: 'inspect' })
  })
  const events = await Array.fromAsync(runs.attach(run, 2, never))
  const failure = { code: 'SERVICE_FAILED', message: 'etcd: it ended', hint: 'inspect' }
  expect(events.map(({ body }) => body)).toEqual([
    { type: 'run-ended', result: { outcome: 'failed', failure } },
  ])
  await runs.start(other, 'apply', async () => undefined)
  expect(await readEvents(runs, other)).toEqual(['1 run-started', '2 ended done'])
})

test('a run that ended with its agent still has an end event', async () => {
  await runs.start(run, 'apply', async (_, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    signal.throwIfAborted()
  })
  const file = join(directory, `${run}.ndjson`)
  await pollUntil('the first event on disk', async () => (await readFile(file, 'utf8')).endsWith('\n'), {
    timeoutMs: 10_000,
    intervalMs: 1,
  })
  await appendFile(file, '{"unfinished')
  expect(await readEvents(agent())).toEqual(['1 run-started', '2 ended interrupted'])
  // A client may have received more events than were written to disk. It gets an end event too.
  expect(await readEvents(agent(), run, 5)).toEqual(['5 ended interrupted'])
})

test('an event that was written only partly, because the disk was full, does not hide the other events', async () => {
  await runs.start(run, 'apply', async (emit) => emit({ type: 'log', lines: ['half way'] }))
  await runs.stop()
  const file = join(directory, `${run}.ndjson`)
  const [started = '', log = '', ended = ''] = (await readFile(file, 'utf8')).split('\n')
  await writeFile(file, `${started}\n${log.slice(0, 20)}${log}\n${ended}\n`)
  expect(await readEvents(agent())).toEqual(['1 run-started', '3 ended done'])
})

test('an unknown run is refused', async () => {
  await expect(readEvents(runs)).rejects.toThrow('has no record of the run')
})

test('a reset is reported to its end, and no run starts after it', async () => {
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
  const events = readEvents(runs)
  const waiting = readEvents(runs, other)
  step.resolve()
  expect(await events).toEqual(['1 run-started', '2 ended done'])
  expect(await waiting).toEqual(['1 run-started', '2 ended interrupted'])
  await left.promise
  expect(order).toEqual(['left'])
  const late = '11111111-2222-4333-8444-555555555555'
  await expect(runs.start(late, 'apply', async () => undefined)).rejects.toThrow('is stopping')
  // The reset removed the log directory, and no event has created it again.
  await expect(stat(directory)).rejects.toThrow('ENOENT')
})

test('an exit hook that is ended together with the agent does not block it', async () => {
  await runs.start(run, 'reset', async () => async () => Promise.reject(new Error('ended with 143')))
  expect(await readEvents(runs)).toEqual(['1 run-started', '2 ended done'])
  await runs.stop()
})

test('events that cannot be written are still sent', async () => {
  const step = Promise.withResolvers<void>()
  await runs.start(run, 'apply', async (emit) => {
    await step.promise
    await rm(directory, { recursive: true })
    emit({ type: 'log', lines: ['half way'] })
  })
  const live = readEvents(runs)
  step.resolve()
  expect(await live).toEqual(['1 run-started', '2 log', '3 ended done'])
  await runs.start(other, 'apply', async () => undefined)
  expect(await readEvents(runs, other)).toEqual(['1 run-started', '2 ended done'])
})

test('a run starts even if old events cannot be deleted', async () => {
  class ReadOnlyLog extends RunEventLog {
    override async prepare(): Promise<void> {
      await Promise.reject(new Error('EROFS: read-only file system, unlink'))
    }
  }
  const readOnly = new Runs('cp1', new ReadOnlyLog(directory), () => new Date(0))
  await readOnly.start(run, 'heal kubelet', async () => undefined)
  expect(await readEvents(readOnly)).toEqual(['1 run-started', '2 ended done'])
})

test('a full disk is reported as such, whatever was being written', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  expect(toRunFailure(full)).toEqual({
    code: 'APPLY_DISK_FULL',
    message: 'the disk is full',
    hint: 'free disk space on the host: df -h shows which disk is full',
  })
})
