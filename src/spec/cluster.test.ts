import { expect, test } from 'vitest'
import { certificatesSchema } from './cluster.ts'

test('a certificate of a host is valid for a year by default', () => {
  expect(certificatesSchema.parse({})).toEqual({ lifetime: 31_536_000_000 })
  expect(certificatesSchema.parse({ lifetime: '90d' })).toEqual({ lifetime: 7_776_000_000 })
  expect(certificatesSchema.parse({ lifetime: '20m' })).toEqual({ lifetime: 1_200_000 })
})

test.each(['19m', '366d', '9000h', '0d', 'a year', '', 365])(
  'certificate lifetime %j is refused',
  (lifetime) => {
    expect(certificatesSchema.safeParse({ lifetime }).success).toBe(false)
  },
)
