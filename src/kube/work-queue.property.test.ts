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
import { TestTime } from '../kit/testing/fake-monotonic-clock.ts'
import { pause } from '../kit/monotonic-clock.ts'
import { type Outcome, WorkQueue } from './work-queue.ts'

const key = constantFrom('a', 'b', 'c', 'd')
const delay = integer({ min: 0, max: 3000 })
const act = oneof(
  record({ act: constant('add' as const), key }),
  record({ act: constant('later' as const), key, delay }),
  record({ act: constant('wait' as const), delay }),
)
/** What comes of handling a key, one after the other, for whichever key it is. */
const turn = record({ takes: delay, fails: boolean(), again: oneof(constant(undefined), delay) })

/** When it was wished that somebody looks at a key, at the latest when. */
interface Wish {
  readonly key: string
  readonly from: number
  readonly due: number
}

test('whatever is added is looked at in time, by one at a time, and no oftener than it was wished', async () => {
  await assert(
    asyncProperty(
      array(act, { maxLength: 40 }),
      array(turn, { maxLength: 30 }),
      integer({ min: 1, max: 3 }),
      async (acts, turns, workers) => {
        const time = new TestTime()
        const backoff = { first: 100, most: 1000 }
        const queue = new WorkQueue('q', { time, backoff, random: () => 1 })
        const wishes: Wish[] = []
        const runs: { readonly key: string; readonly began: number; ended: number }[] = []
        const working = new Set<string>()
        // What is thrown at the queue is only tried again.
        const wrong: string[] = []
        const wish = (one: string, after: number): void => {
          wishes.push({ key: one, from: time.now(), due: time.now() + after })
        }
        const handle = async (one: string): Promise<Outcome> => {
          if (working.has(one)) wrong.push(`two work on ${one}`)
          if (working.size >= workers) wrong.push('too many work')
          working.add(one)
          const run = { key: one, began: time.now(), ended: Infinity }
          runs.push(run)
          const { takes, fails, again } = turns.shift() ?? { takes: 0, fails: false, again: undefined }
          await pause(time, takes, new AbortController().signal)
          working.delete(one)
          run.ended = time.now()
          if (fails) {
            wish(one, backoff.most)
            throw new Error('it failed')
          }
          if (again === undefined) return undefined
          wish(one, again)
          return { requeueAfter: again }
        }
        const stop = new AbortController()
        const ended = queue.run({ workers, handle }, stop.signal)
        for (const step of acts) {
          if (step.act === 'wait') await time.goOn(step.delay)
          else {
            wish(step.key, step.act === 'add' ? 0 : step.delay)
            if (step.act === 'add') queue.add(step.key)
            else queue.addAfter(step.key, step.delay)
          }
        }
        // Longer than all turns one after the other.
        await time.goOn(300_000)
        stop.abort()
        await ended
        expect(wrong).toEqual([])
        expect(runs.length).toBeLessThanOrEqual(wishes.length)
        for (const { key: one, from, due } of wishes) {
          const next = runs.find(({ key: other, began }) => other === one && began >= from)
          expect(next, `nobody looked at ${one} after ${from}`).toBeDefined()
          // All workers may be busy with others: then nobody is idle between the time and the look.
          const began = next?.began ?? Infinity
          const idle = runs.filter((run) => run.began < began && run.ended > due)
          expect(began <= due || idle.length > 0, `${one} waited though nobody worked`).toBe(true)
        }
      },
    ),
  )
})
