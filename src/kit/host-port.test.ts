import { expect, test } from 'vitest'
import { formatHostPort, parseHostPort } from './host-port.ts'

test.each([
  ['10.0.0.1:6443', '10.0.0.1', 6443],
  ['[fd00::1]:6443', 'fd00::1', 6443],
  ['cp1.example.org:443', 'cp1.example.org', 443],
])('the address %s is parsed and formatted', (text, host, port) => {
  expect(parseHostPort(text)).toEqual({ host, port })
  expect(formatHostPort(host, port)).toBe(text)
})
