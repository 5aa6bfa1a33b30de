import { array, assert, dictionary, jsonValue, property, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'
import { mergeChartValues } from './chart-values.ts'

const secret = (text: string) => ({ revealText: () => text })
const key = stringMatching(/^[a-z_]{1,3}$/)

function read(values: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, one) => (Object.hasOwn(Object(at), one) ? Object(at)[one] : undefined),
    values,
  )
}

test('a secret value is at its path in the JSON for Helm, and all other values stay', () => {
  const isMerged = (values: Record<string, unknown>, path: readonly string[]): boolean => {
    const before = JSON.stringify(values)
    const secrets = new Map([[path.join('.'), secret('hidden value')]])
    const merged: unknown = JSON.parse(
      JSON.stringify(mergeChartValues({ values: JSON.parse(before) }, secrets)),
    )
    const others = Object.keys(values).filter((one) => one !== path[0])
    return (
      read(merged, path) === 'hidden value' &&
      others.every(
        (one) => JSON.stringify(read(merged, [one])) === JSON.stringify(read(JSON.parse(before), [one])),
      ) &&
      JSON.stringify(values) === before
    )
  }
  const paths = array(key, { minLength: 1, maxLength: 4 })
  expect(() => assert(property(dictionary(key, jsonValue()), paths, isMerged))).not.toThrow()
})

test('values beside a secret value stay, and an own key __proto__ is a value like others', () => {
  const secrets = new Map([
    ['database.password', secret('hidden')],
    ['__proto__.polluted', secret('hidden')],
  ])
  const merged = mergeChartValues({ values: { database: { user: 'shop' } } }, secrets)
  expect(JSON.stringify(merged)).toBe(
    '{"database":{"user":"shop","password":"hidden"},"__proto__":{"polluted":"hidden"}}',
  )
  expect({}).not.toHaveProperty('polluted')
})
