import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { inParallel } from './merge-concurrently.ts'

test('all that sources tell comes, each in its order, and never too many are asked at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat(2), { maxLength: 5 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 4 }),
      async (given, most) => {
        let active = 0
        const tell = async function* (own: readonly number[], source: number) {
          active++
          expect(active).toBeLessThanOrEqual(most)
          for (const [number, pause] of own.entries()) {
            if (pause > 1) await sleep(0)
            yield { source, number }
          }
          active--
        }
        const out = await Array.fromAsync(inParallel(given.map(tell), most))
        for (const [source, own] of given.entries()) {
          const told = out.filter((one) => one.source === source).map(({ number }) => number)
          expect(told).toEqual([...own.keys()])
        }
      },
    ),
    { numRuns: 50 },
  )
})
