import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Format, olderVersion, readVersionedLenient, readVersioned } from './versioned.ts'

const base = { kind: z.literal('Toy') }
const first = z.strictObject({ ...base, apiVersion: z.literal('t/v1'), size: z.int() })
const second = z.strictObject({ ...base, apiVersion: z.literal('t/v2'), bytes: z.int() })
const third = z.strictObject({ ...base, apiVersion: z.literal('t/v3'), bytes: z.int(), unit: z.literal('B') })

const toy: Format<z.infer<typeof third>> = {
  kind: 'Toy',
  newest: { apiVersion: 't/v3', schema: third },
  older: [
    olderVersion('t/v1', first, ({ size }) => ({ apiVersion: 't/v2', kind: 'Toy', bytes: size * 1024 })),
    olderVersion('t/v2', second, ({ bytes }) => ({ apiVersion: 't/v3', kind: 'Toy', bytes, unit: 'B' })),
  ],
}

test('every version is read as the newest version', () => {
  const newest = { apiVersion: 't/v3', kind: 'Toy', bytes: 2048, unit: 'B' }
  expect(readVersioned(toy, { apiVersion: 't/v1', kind: 'Toy', size: 2 })).toEqual(newest)
  expect(readVersioned(toy, { apiVersion: 't/v2', kind: 'Toy', bytes: 2048 })).toEqual(newest)
  expect(readVersioned(toy, newest)).toEqual(newest)
})

test.each([
  ['CONTRACT_OTHER_KIND', { apiVersion: 't/v3', kind: 'Tool' }],
  ['CONTRACT_OTHER_KIND', 'text'],
  ['CONTRACT_OTHER_KIND', undefined],
  ['CONTRACT_VERSION', { apiVersion: 't/v4', kind: 'Toy' }],
  ['CONTRACT_NOT_VALID', { apiVersion: 't/v1', kind: 'Toy', size: 'two' }],
  ['CONTRACT_NOT_VALID', { apiVersion: 't/v3', kind: 'Toy', bytes: 1, unit: 'B', more: 1 }],
])('a document is refused with %s: %j', (code, value) => {
  expect(() => readVersioned(toy, value)).toThrow(expect.objectContaining({ code }))
})

describe('a document of a newer release', () => {
  const part = z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('a'), size: z.int() }),
    z.strictObject({ type: z.literal('b') }),
  ])
  const schema = z.strictObject({ ...base, apiVersion: z.literal('t/v1'), parts: z.array(part) })
  const format: Format<z.infer<typeof schema>> = {
    kind: 'Toy',
    newest: { apiVersion: 't/v1', schema },
    older: [],
  }
  const head = { apiVersion: 't/v1', kind: 'Toy' }

  test('is read leniently without its unknown fields, at any depth', () => {
    const parts = [
      { type: 'a', size: 1, colour: 'red' },
      { type: 'b', more: { deep: [1] } },
    ]
    const value = { ...head, parts, mood: 'good' }
    expect(readVersionedLenient(format, value)).toEqual({
      ...head,
      parts: [{ type: 'a', size: 1 }, { type: 'b' }],
    })
    expect(value.mood).toBe('good')
    expect(() => readVersioned(format, value)).toThrow('mood')
  })

  test('is refused if a field is missing or has another type', () => {
    for (const wrong of [{ type: 'a', colour: 'red' }, { type: 'c' }]) {
      expect(() => readVersionedLenient(format, { ...head, parts: [wrong] })).toThrow(
        expect.objectContaining({ code: 'CONTRACT_NOT_VALID' }),
      )
    }
    expect(() => readVersionedLenient(format, { ...head, apiVersion: 't/v2' })).toThrow('t/v2')
  })
})
