import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeByTime, type Timed } from './merge.ts'

interface Item extends Timed {
  readonly source: number
  readonly number: number
}

async function* emitItems(items: readonly Item[], pauses: readonly number[]): AsyncGenerator<Item> {
  for (const [index, item] of items.entries()) {
    const pause = pauses[index % Math.max(1, pauses.length)] ?? 0
    if (pause > 0) await sleep(pause - 1)
    yield item
  }
}

const times = fc.array(fc.nat(50), { maxLength: 30 })
const pauses = fc.array(fc.nat(2), { maxLength: 5 })

test('sorted sources are merged in time order without losses', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(times, pauses), { maxLength: 5 }), async (inputs) => {
      const items = inputs.map(([sourceItems], source) =>
        sourceItems.toSorted((a, b) => a - b).map((time, number): Item => ({ time, source, number })),
      )
      const sources = items.map((sourceItems, index) => emitItems(sourceItems, inputs[index]?.[1] ?? []))
      const out = await Array.fromAsync(mergeByTime(sources, { windowMs: Infinity }))
      const expected = items.flat().toSorted((a, b) => a.time - b.time || a.source - b.source)
      expect(out).toEqual(expected)
    }),
    { numRuns: 100 },
  )
})

test('for any order, window and delay no item is lost and each source keeps its order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(times, pauses), { maxLength: 4 }),
      fc.nat(3),
      async (inputs, window) => {
        const items = inputs.map(([sourceItems], source) =>
          sourceItems.map((time, number): Item => ({ time, source, number })),
        )
        const sources = items.map((sourceItems, index) => emitItems(sourceItems, inputs[index]?.[1] ?? []))
        const out = await Array.fromAsync(mergeByTime(sources, { windowMs: window }))
        for (const [source, sourceItems] of items.entries()) {
          expect(out.filter((item) => item.source === source)).toEqual(sourceItems)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test('a source without items delays the others for the window only', async () => {
  const released = Promise.withResolvers<void>()
  async function* emitNothing(): AsyncGenerator<Item> {
    await released.promise
    yield* []
  }
  const firstItem: Item = { time: 1, source: 0, number: 0 }
  const all = mergeByTime([emitItems([firstItem], []), emitNothing()], { windowMs: 20 })
  const startedAt = performance.now()
  expect(await all.next()).toEqual({ value: firstItem, done: false })
  expect(performance.now() - startedAt).toBeGreaterThan(15)
  released.resolve()
  expect(await all.next()).toEqual({ value: undefined, done: true })
})

test('sources wait for a full buffer, and a consumer that stops ends the merge', async () => {
  const manyItems = Array.from({ length: 5000 }, (_, number): Item => ({ time: number, source: 0, number }))
  const mergedSources = mergeByTime([emitItems(manyItems, []), emitItems(manyItems, [])], {
    windowMs: Infinity,
  })
  let count = 0
  for await (const _ of mergedSources) if (++count === 7000) break
  expect(count).toBe(7000)
  expect(await Array.fromAsync(mergeByTime([emitItems(manyItems, [])], { windowMs: 0 }))).toHaveLength(5000)
})

test('a failing source fails the merge', async () => {
  async function* failing(): AsyncGenerator<Item> {
    yield* []
    throw new Error('gone')
  }
  await expect(Array.fromAsync(mergeByTime([failing()], { windowMs: 0 }))).rejects.toThrow('gone')
})
