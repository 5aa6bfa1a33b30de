import { expect, test } from 'vitest'
import { assignAddresses } from './lab.ts'

test('known hosts keep their address, and new hosts get the lowest free address', () => {
  const assigned = assignAddresses(3, new Map([['b', '10.210.3.12']]), ['a', 'b', 'c'])
  expect(Object.fromEntries(assigned)).toEqual({ a: '10.210.3.11', b: '10.210.3.12', c: '10.210.3.13' })
})

test('a full lab is refused', () => {
  const names = Array.from({ length: 245 }, (_, index) => `h${index}`)
  expect(() => assignAddresses(0, new Map(), names)).toThrow('room for 244')
})
