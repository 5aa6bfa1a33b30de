import { expect, test } from 'vitest'
import { serialNumber } from './x509.ts'

test('1000 serial numbers are positive, have 127 bits and are unique', () => {
  const serials = Array.from({ length: 1000 }, () => serialNumber())
  for (const serial of serials) expect(BigInt(`0x${serial}`).toString(2)).toHaveLength(127)
  expect(new Set(serials).size).toBe(1000)
})

test.each([0x00, 0xff, 0x80])('random bytes of %i give a positive serial number', (byte) => {
  const serial = serialNumber({ bytes: (count) => new Uint8Array(count).fill(byte) })
  expect(serial).toMatch(/^[4-7][0-9a-f]{31}$/)
})
