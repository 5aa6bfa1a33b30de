import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  oneof,
  record,
  constant,
} from 'fast-check'
import { expect, test } from 'vitest'
import { FakeMonotonicClock } from '../kit/testing/fake-monotonic-clock.ts'
import { sleepUnlessAborted } from '../kit/monotonic-clock.ts'
import { type WorkResult, WorkQueue } from './work-queue.ts'

const key = constantFrom('a', 'b', 'c', 'd')
const delay = integer({ min: 0, max: 3000 })
const act = oneof(
  record({ act: constant('add' as const), key }),
  record({ act: constant('later' as const), key, delay }),
  record({ act: constant('wait' as const), delay }),
)
/** Result of one call of the handler. The results are used in turn for all keys. */
const turn = record({ takes: delay, fails: boolean(), again: oneof(constant(undefined), delay) })

/** A requested run of a key. `due` is the time at which it should start. */
interface RequestedRun {
  readonly key: string
  readonly from: number
  readonly due: number
}

test('each added key is processed in time, by one worker at a time, and no more often than requested', async () => {
  await assert(
    asyncProperty(
      array(act, { maxLength: 40 }),
      array(turn, { maxLength: 30 }),
      integer({ min: 1, max: 3 }),
      async (acts, turns, workers) => {
        const time = new FakeMonotonicClock()
        const backoff = { initial: 100, max: 1000 }
        const queue = new WorkQueue('q', { time, backoff, random: () => 1 })
        const requestedRuns: RequestedRun[] = []
        const runs: { readonly key: string; readonly began: number; ended: number }[] = []
        const working = new Set<string>()
        // Errors are collected here, because an exception in the handler would only cause a retry.
        const wrong: string[] = []
        const requestRun = (one: string, after: number): void => {
          requestedRuns.push({ key: one, from: time.now(), due: time.now() + after })
        }
        const handle = async (one: string): Promise<WorkResult> => {
          if (working.has(one)) wrong.push(`two work on ${one}`)
          if (working.size >= workers) wrong.push('too many work')
          working.add(one)
          const run = { key: one, began: time.now(), ended: Infinity }
          runs.push(run)
          const { takes, fails, again } = turns.shift() ?? { takes: 0, fails: false, again: undefined }
          await sleepUnlessAborted(time, takes, new AbortController().signal)
          working.delete(one)
          run.ended = time.now()
          if (fails) {
            requestRun(one, backoff.max)
            throw new Error('it failed')
          }
          if (again === undefined) return undefined
          requestRun(one, again)
          return { requeueAfter: again }
        }
        const stop = new AbortController()
        const ended = queue.run({ workers, handle }, stop.signal)
        for (const step of acts) {
          if (step.act === 'wait') await time.advance(step.delay)
          else {
            requestRun(step.key, step.act === 'add' ? 0 : step.delay)
            if (step.act === 'add') queue.add(step.key)
            else queue.addAfter(step.key, step.delay)
          }
        }
        // All runs together take less time than this, even if they run one after the other.
        await time.advance(300_000)
        stop.abort()
        await ended
        expect(wrong).toEqual([])
        expect(runs.length).toBeLessThanOrEqual(requestedRuns.length)
        for (const { key: one, from, due } of requestedRuns) {
          const next = runs.find(({ key: other, began }) => other === one && began >= from)
          expect(next, `${one} was not processed after ${from}`).toBeDefined()
          // A run may start late only if other runs kept the workers busy after the due time of this run.
          const began = next?.began ?? Infinity
          const idle = runs.filter((run) => run.began < began && run.ended > due)
          expect(began <= due || idle.length > 0, `${one} waited though a worker was idle`).toBe(true)
        }
      },
    ),
  )
})
