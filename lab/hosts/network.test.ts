import { expect, test } from 'vitest'
import { hardwareAddress } from './network.ts'

test('a hardware address is derived from the IP address', () => {
  expect(hardwareAddress('10.210.3.17')).toBe('02:00:0a:d2:03:11')
})
