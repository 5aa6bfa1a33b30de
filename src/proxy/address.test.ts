import { expect, test } from 'vitest'
import { formatAddress, parseAddress } from './address.ts'

test.each([
  ['10.0.0.1:6443', '10.0.0.1', 6443],
  ['[fd00::1]:6443', 'fd00::1', 6443],
  ['cp1.example.org:443', 'cp1.example.org', 443],
])('the address %s is parsed and formatted', (text, host, port) => {
  expect(parseAddress(text)).toEqual({ host, port })
  expect(formatAddress(host, port)).toBe(text)
})
