import { expect, test } from 'vitest'
import { renderDerived } from './derived-file.ts'

const subnet = `FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.3.1/24
FLANNEL_MTU=1450
FLANNEL_IPMASQ=true
`

test('each reference to a variable is replaced by its value', () => {
  expect(renderDerived('{"mtu": ${FLANNEL_MTU}, "again": ${FLANNEL_MTU}}', subnet)).toBe(
    '{"mtu": 1450, "again": 1450}',
  )
})

test.each([
  ['10.244.3.1/24', '10.244.3.0/24'],
  ['10.244.255.255/20', '10.244.240.0/20'],
  ['10.0.0.77/26', '10.0.0.64/26'],
  ['192.168.1.1/32', '192.168.1.1/32'],
  ['192.168.1.1/0', '0.0.0.0/0'],
  ['fd00:10:244::1/64', 'fd00:10:244::/64'],
  ['FD00:10:244:0a::1/56', 'fd00:10:244::/56'],
  ['fd00:10:244:ff::1/60', 'fd00:10:244:f0::/60'],
  ['fd00::1/128', 'fd00::1/128'],
  ['fd00::1/0', '::/0'],
])('the network of %s is %s', (address, network) => {
  expect(renderDerived('${A|network}', `A=${address}\n`)).toBe(network)
})

test('a value that is not an address with a prefix has no network', () => {
  for (const value of [
    '10.244.3.1',
    '10.244.300.1/24',
    '10.244.3.1/33',
    'fd00::1',
    'fd00::1/129',
    'fd00:::1/64',
    '',
  ]) {
    expect(() => renderDerived('${A|network}', `A=${value}\n`)).toThrow('which has no network')
  }
})

test('an unknown filter is refused', () => {
  expect(() => renderDerived('${A|upper}', 'A=1\n')).toThrow('which has no upper')
})

test('a template is not rendered until all its variables are set', () => {
  expect(renderDerived('${FLANNEL_MTU} ${FLANNEL_IPV6}', subnet)).toBeUndefined()
  expect(renderDerived('${A}', '')).toBeUndefined()
})

test('a line without a newline is ignored', () => {
  expect(renderDerived('${A}', 'A=10.2')).toBeUndefined()
  expect(renderDerived('${A}', 'A=10.2\n')).toBe('10.2')
})

test('quotes around values, comments and export are ignored', () => {
  expect(renderDerived('${A} ${B}', '# by hand\nA="x y"\n\nexport B=\'z\'\n')).toBe('x y z')
})

test('references inside of a value are not replaced', () => {
  expect(renderDerived('${A}', 'A=${B}\nB=1\n')).toBe('${B}')
})

test('a template without variables needs no source', () => {
  expect(renderDerived('plain $HOME', '')).toBe('plain $HOME')
})
