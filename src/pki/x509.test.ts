import { expect, test } from 'vitest'
import { serialNumber } from './x509.ts'

test('a thousand are positive, of 127 bits, and all different', () => {
  const serials = Array.from({ length: 1000 }, () => serialNumber())
  for (const serial of serials) expect(BigInt(`0x${serial}`).toString(2)).toHaveLength(127)
  expect(new Set(serials).size).toBe(1000)
})

test.each([0x00, 0xff, 0x80])('bytes of %i make none that is zero or negative', (byte) => {
  const serial = serialNumber({ bytes: (count) => new Uint8Array(count).fill(byte) })
  expect(serial).toMatch(/^[4-7][0-9a-f]{31}$/)
})
