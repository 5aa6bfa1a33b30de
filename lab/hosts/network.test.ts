import { expect, test } from 'vitest'
import { toIpv6Address } from './names.ts'
import { hardwareAddress } from './network.ts'

test('a hardware address is derived from the IP address', () => {
  expect(hardwareAddress('10.210.3.17')).toBe('02:00:0a:d2:03:11')
})

test('an IPv6 address is derived from the IPv4 address', () => {
  expect(toIpv6Address('10.210.3.17')).toBe('fd00:10:210:3::17')
  expect(toIpv6Address('10.210.0.255')).toBe('fd00:10:210::255')
})
