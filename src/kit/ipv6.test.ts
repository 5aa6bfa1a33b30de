import { array, assert, constant, nat, oneof, property } from 'fast-check'
import { expect, test } from 'vitest'
import { formatIpv6, parseIpv6 } from './ipv6.ts'

test.each([
  ['fd00:10:244::', [0xfd00, 0x10, 0x244, 0, 0, 0, 0, 0], 'fd00:10:244::'],
  ['::1', [0, 0, 0, 0, 0, 0, 0, 1], '::1'],
  ['::', [0, 0, 0, 0, 0, 0, 0, 0], '::'],
  ['2001:DB8:0::0001', [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], '2001:db8::1'],
  ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8], '1:2:3:4:5:6:7:8'],
  ['::ffff:10.0.0.1', [0, 0, 0, 0, 0, 0xffff, 0x0a00, 1], '::ffff:a00:1'],
])('%s has eight groups', (text, groups, formatted) => {
  expect(parseIpv6(text)).toEqual(groups)
  expect(formatIpv6(groups)).toBe(formatted)
})

test.each(['', '10.0.0.1', 'fe80::1%eth0', 'fd00::/64', '1:2'])('%s is no IPv6 address', (text) => {
  expect(parseIpv6(text)).toBeUndefined()
})

test('every address has the same groups after it was formatted', () => {
  const groups = array(oneof(constant(0), nat(0xffff)), { minLength: 8, maxLength: 8 })
  assert(
    property(groups, (some) => {
      expect(parseIpv6(formatIpv6(some))).toEqual(some)
    }),
  )
})
