import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { merged, type Timed } from './merge.ts'

interface Item extends Timed {
  readonly source: number
  readonly number: number
}

async function* told(items: readonly Item[], pauses: readonly number[]): AsyncGenerator<Item> {
  for (const [index, item] of items.entries()) {
    const pause = pauses[index % Math.max(1, pauses.length)] ?? 0
    if (pause > 0) await sleep(pause - 1)
    yield item
  }
}

const times = fc.array(fc.nat(50), { maxLength: 30 })
const pauses = fc.array(fc.nat(2), { maxLength: 5 })

test('sources in order come out in order, and nothing is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(times, pauses), { maxLength: 5 }), async (given) => {
      const items = given.map(([own], source) =>
        own.toSorted((a, b) => a - b).map((time, number): Item => ({ time, source, number })),
      )
      const sources = items.map((own, index) => told(own, given[index]?.[1] ?? []))
      const out = await Array.fromAsync(merged(sources, { window: Infinity }))
      const expected = items.flat().toSorted((a, b) => a.time - b.time || a.source - b.source)
      expect(out).toEqual(expected)
    }),
    { numRuns: 100 },
  )
})

test('nothing is lost and nobody is overtaken within a source, whatever the order, window and pace', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(times, pauses), { maxLength: 4 }),
      fc.nat(3),
      async (given, window) => {
        const items = given.map(([own], source) =>
          own.map((time, number): Item => ({ time, source, number })),
        )
        const sources = items.map((own, index) => told(own, given[index]?.[1] ?? []))
        const out = await Array.fromAsync(merged(sources, { window }))
        for (const [source, own] of items.entries()) {
          expect(out.filter((item) => item.source === source)).toEqual(own)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test('whoever is silent holds others up for the window, and no longer', async () => {
  const quiet = Promise.withResolvers<void>()
  async function* silent(): AsyncGenerator<Item> {
    await quiet.promise
    yield* []
  }
  const one: Item = { time: 1, source: 0, number: 0 }
  const all = merged([told([one], []), silent()], { window: 20 })
  const begun = performance.now()
  expect(await all.next()).toEqual({ value: one, done: false })
  expect(performance.now() - begun).toBeGreaterThan(15)
  quiet.resolve()
  expect(await all.next()).toEqual({ value: undefined, done: true })
})

test('more than fits is waited for, and who stops to listen ends it', async () => {
  const many = Array.from({ length: 5000 }, (_, number): Item => ({ time: number, source: 0, number }))
  const both = merged([told(many, []), told(many, [])], { window: Infinity })
  let count = 0
  for await (const _ of both) if (++count === 7000) break
  expect(count).toBe(7000)
  expect(await Array.fromAsync(merged([told(many, [])], { window: 0 }))).toHaveLength(5000)
})

test('a source that fails fails the whole', async () => {
  async function* failing(): AsyncGenerator<Item> {
    yield* []
    throw new Error('gone')
  }
  await expect(Array.fromAsync(merged([failing()], { window: 0 }))).rejects.toThrow('gone')
})
