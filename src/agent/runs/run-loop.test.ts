import { expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { type TickResult, runLoop, withJitter } from './run-loop.ts'

/** Runs the loop until all results are used. Returns the delay before each tick and the log lines. */
async function runTicks(results: readonly (() => Promise<TickResult>)[], random = 1) {
  const stop = new AbortController()
  const [pauses, logged]: [number[], string[]] = [[], []]
  let ticks = 0
  await runLoop({
    tick: async () => {
      const result = results[ticks++]
      if (result !== undefined) return result()
      stop.abort()
      throw new Error('the loop must end')
    },
    firstMs: 30,
    retryMs: 60,
    clock: { now: () => new Date(0), pause: async (milliseconds) => void pauses.push(milliseconds) },
    random: () => random,
    log: (text) => void logged.push(text),
    signal: stop.signal,
  })
  return { pauses, logged }
}

const succeed = async (): Promise<TickResult> => ({ nextMs: 600, problems: [] })
const skip = async (): Promise<TickResult> => ({ nextMs: 600 })
const problem = (code: string) => async (): Promise<TickResult> => ({
  nextMs: 600,
  problems: [new HyperkubeError(code, 'the message', { hint: 'the hint' })],
})

test('each tick sets the next delay, and a failure sets the retry delay', async () => {
  const fails = async (): Promise<TickResult> => Promise.reject(new Error('no disk'))
  expect(await runTicks([succeed, fails, succeed])).toEqual({
    pauses: [30, 600, 60, 600],
    logged: ['UNEXPECTED: no disk'],
  })
})

test('the same problem is logged once, until another problem or a tick without problems', async () => {
  const [denied, unreachable] = [problem('RENEWAL_DENIED'), problem('KUBE_UNREACHABLE')]
  const { logged } = await runTicks([denied, denied, skip, denied, unreachable, denied, succeed, denied])
  expect(logged).toEqual([
    'RENEWAL_DENIED: the message -> the hint',
    'KUBE_UNREACHABLE: the message -> the hint',
    'RENEWAL_DENIED: the message -> the hint',
    'RENEWAL_DENIED: the message -> the hint',
  ])
})

test('an aborted loop waits for nothing', async () => {
  const stop = new AbortController()
  const clock = {
    now: () => new Date(0),
    pause: async (): Promise<void> => {
      stop.abort()
      throw new Error('aborted')
    },
  }
  const tick = async (): Promise<TickResult> => Promise.reject(new Error('must not be called'))
  const log = (): void => expect.fail('must not log')
  await runLoop({ tick, firstMs: 1, retryMs: 1, clock, random: () => 0, log, signal: stop.signal })
})

test('the jitter differs between hosts, and never delays', () => {
  expect([0, 0.5, 1].map((random) => withJitter(600, random))).toEqual([450, 525, 600])
})
