import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Format, olderVersion, readVersioned } from './versioned.ts'

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

test('every version is read as the newest', () => {
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
])('%s', (code, value) => {
  expect(() => readVersioned(toy, value)).toThrow(expect.objectContaining({ code }))
})
