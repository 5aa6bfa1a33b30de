import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeConcurrently } from './collect.ts'

test('all items arrive, each source in order, and never too many sources are read at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat(2), { maxLength: 5 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 4 }),
      async (inputs, maxConcurrent) => {
        let active = 0
        const emitNumbers = async function* (numbers: readonly number[], source: number) {
          active++
          expect(active).toBeLessThanOrEqual(maxConcurrent)
          for (const [number, pause] of numbers.entries()) {
            if (pause > 1) await sleep(0)
            yield { source, number }
          }
          active--
        }
        const out = await Array.fromAsync(mergeConcurrently(inputs.map(emitNumbers), maxConcurrent))
        for (const [source, numbers] of inputs.entries()) {
          const received = out.filter((item) => item.source === source).map(({ number }) => number)
          expect(received).toEqual([...numbers.keys()])
        }
      },
    ),
    { numRuns: 50 },
  )
})
