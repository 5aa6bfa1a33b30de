import { array, assert, constantFrom, integer, property, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bypassesProxy } from './no-proxy.ts'

const label = constantFrom('a', 'b', 'example', 'corp', 'xn--a')
const domain = array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
const address = integer({ min: 0x0100_0000, max: 0x7eff_ffff })
const formatAddress = (value: number): string =>
  [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')

describe('no_proxy', () => {
  test.each([
    // The cases of Go's httpproxy package, and of curl where Go has none.
    ['https://foo.example/', 'example', true],
    ['https://example/', 'example', true],
    ['https://example/', '.example', false],
    ['https://a.example/', '.example', true],
    ['https://a.example/', '*.example', true],
    ['https://notexample/', 'example', false],
    ['https://A.EXAMPLE/', 'Example', true],
    ['https://example:8443/', 'example:8443', true],
    ['https://example/', 'example:443', true],
    ['http://example/', 'example:443', false],
    ['https://10.1.2.3/', '10.0.0.0/8', true],
    ['https://11.1.2.3/', '10.0.0.0/8', false],
    ['https://10.1.2.3/', '10.1.2.3', true],
    ['https://10.1.2.3:6443/', '10.1.2.3:443', false],
    ['https://110.1.2.3/', '10.1.2.3', false],
    ['https://1.2.3/', '2.3', false],
    ['https://[fd00::1]/', 'fd00::/8', true],
    ['https://[fd00::1]:6443/', '[fd00::1]:6443', true],
    ['https://[fd00::2]/', 'fd00::1', false],
    ['https://10.1.2.3/', 'fd00::/8', false],
    ['https://10.1.2.3/', '10.0.0.0/99', false],
    ['https://site.example/', '*', true],
    ['https://site.example/', '', false],
    ['https://127.4.5.6/', '', true],
    ['https://[::1]/', '', true],
    ['http://localhost:8080/', '', true],
  ])('%s with %s: %s', (url, entry, expected) => {
    expect(bypassesProxy(url, [entry])).toBe(expected)
  })

  test('a domain matches itself and its subdomains, and nothing else', () => {
    assert(
      property(domain, domain, (host, entry) => {
        const labels = host.split('.')
        const suffixes = labels.map((_, index) => labels.slice(index).join('.'))
        expect(bypassesProxy(`https://${host}/`, [entry])).toBe(suffixes.includes(entry))
        expect(bypassesProxy(`https://${host}/`, [`.${entry}`])).toBe(suffixes.slice(1).includes(entry))
      }),
    )
  })

  test('a network matches exactly the addresses with its prefix', () => {
    assert(
      property(address, address, integer({ min: 0, max: 32 }), (host, base, prefix) => {
        const mask = prefix === 0 ? 0 : (-1 << (32 - prefix)) >>> 0
        const inside = (host & mask) >>> 0 === (base & mask) >>> 0
        const entry = `${formatAddress(base)}/${prefix}`
        expect(bypassesProxy(`http://${formatAddress(host)}/`, [entry])).toBe(inside)
        const sibling = ((base & mask) | (host & ~mask)) >>> 0
        expect(bypassesProxy(`http://${formatAddress(sibling)}/`, [entry]) || sibling >>> 24 === 0).toBe(true)
      }),
    )
  })

  test('more entries never send a target to the proxy that was direct before', () => {
    assert(
      property(domain, array(domain), tuple(domain, domain), (host, entries, more) => {
        const url = `https://${host}/`
        const before = bypassesProxy(url, entries)
        const after = bypassesProxy(url, [...entries, ...more])
        expect(after || !before).toBe(true)
        expect(after).toBe(before || more.some((entry) => bypassesProxy(url, [entry])))
      }),
    )
  })
})
