import { expect, test } from 'vitest'
import { parseJumps } from './hop.ts'

test.each([
  ['none', []],
  ['host', [{ alias: 'host' }]],
  ['user@host:2200', [{ alias: 'host', user: 'user', port: 2200 }]],
  ['ssh://user@host:2200', [{ alias: 'host', user: 'user', port: 2200 }]],
  ['ssh://host/', [{ alias: 'host' }]],
  [
    'a, b@[fd00::1]:22,fd00::2',
    [{ alias: 'a' }, { alias: 'fd00::1', user: 'b', port: 22 }, { alias: 'fd00::2' }],
  ],
])('ProxyJump %s is parsed into its hops', (proxyJump, expected) => {
  expect(parseJumps({ proxyJump })).toEqual(expected)
})

test.each(['', 'a,,b', 'user@', 'host:port', '-oProxyCommand=x y'])(
  '%j is not a valid ProxyJump',
  (proxyJump) => {
    expect(() => parseJumps({ proxyJump })).toThrow(expect.objectContaining({ code: 'SSH_CONFIG_NOT_READ' }))
  },
)

test('without ProxyJump there are no hops', () => {
  expect(parseJumps({})).toEqual([])
})
