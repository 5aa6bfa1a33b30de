import { expect, test } from 'vitest'
import { certificates } from './certificates.ts'

test('a certificate of a host is good for a year, unless somebody says otherwise', () => {
  expect(certificates.parse({})).toEqual({ lifetime: 31_536_000_000 })
  expect(certificates.parse({ lifetime: '90d' })).toEqual({ lifetime: 7_776_000_000 })
  expect(certificates.parse({ lifetime: '20m' })).toEqual({ lifetime: 1_200_000 })
})

test.each(['19m', '366d', '9000h', '0d', 'a year', '', 365])('%j is no lifetime', (lifetime) => {
  expect(certificates.safeParse({ lifetime }).success).toBe(false)
})
