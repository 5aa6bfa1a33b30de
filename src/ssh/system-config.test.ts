import { expect, test } from 'vitest'
import type { Hop } from './hop.ts'
import { buildSystemConfig, chooseHostKeyAlias, hopName } from './system-config.ts'

const hop: Hop = {
  name: 'cp1',
  alias: '10.0.0.5',
  address: '10.0.0.5',
  port: 22,
  user: 'root',
  keys: [{ path: '/keys/a "b" 100%', from: 'settings' }],
  onlyKeys: true,
}
const bastion: Hop = {
  ...hop,
  name: 'jump',
  alias: 'jump',
  address: 'fd00::1',
  port: 2200,
  keys: [{ path: '/home/ada/.ssh/id_ed25519', from: 'habit' }],
  onlyKeys: false,
  agent: false,
}
const files = {
  knownHosts: '/t/known',
  control: '/t/control',
  aliases: ['hyperkube-hop-0', 'hyperkube-hop-1'],
}
const times = { timeout: 1500, keepalive: { interval: 15_000, count: 3 } }

test('each hop has a Host block with its own keys, agent and ProxyJump', () => {
  const text = buildSystemConfig({
    hops: [bastion, hop],
    agent: '/agent',
    ...files,
    ...times,
    include: '/home/a b/.ssh/config',
  })
  expect(text.split('Host *')[0]).toBe(`IgnoreUnknown KnownHostsCommand
Host jump
  HostName fd00::1
  Port 2200
  User "root"
  HostKeyAlias hyperkube-hop-0
  IdentityAgent none
  ControlPath none
Host 10.0.0.5
  HostName 10.0.0.5
  Port 22
  User "root"
  HostKeyAlias hyperkube-hop-1
  IdentityFile "/keys/a \\"b\\" 100%%"
  IdentitiesOnly yes
  IdentityAgent "/agent"
  ProxyJump jump
  ControlPath "/t/control"
`)
})

test('ssh never prompts, accepts only known keys, and includes the operator’s own file last', () => {
  const text = buildSystemConfig({
    hops: [hop],
    agent: undefined,
    ...files,
    ...times,
    include: '/home/a b/.ssh/config',
  })
  for (const line of ['BatchMode yes', 'StrictHostKeyChecking yes', 'UserKnownHostsFile "/t/known"']) {
    expect(text).toContain(`\n  ${line}\n`)
  }
  expect(text).toContain('\n  ConnectTimeout 2\n')
  expect(text).toMatch(/\nMatch all\n {2}Include "\/home\/a b\/.ssh\/config"\n$/)
  expect(buildSystemConfig({ hops: [hop], agent: undefined, ...files, ...times })).not.toContain('Include')
})

test('a hop is named by the alias of the operator, unless ssh would misread it', () => {
  expect([0, 1].map((index) => hopName([bastion, hop], index))).toEqual(['jump', '10.0.0.5'])
  const odd = ['fd00::1', '-oProxyCommand=x', '*', 'a b'].map((alias) => hopName([{ ...hop, alias }], 0))
  expect(new Set(odd)).toEqual(new Set(['hyperkube-hop-0']))
  expect([0, 1].map((index) => hopName([hop, hop], index))).toEqual(['hyperkube-hop-0', 'hyperkube-hop-1'])
})

test('the HostKeyAlias is the address if the host certificate is checked', () => {
  expect(chooseHostKeyAlias({ ...hop, address: 'CP1.example.com' }, 1, true)).toBe('cp1.example.com')
  expect(chooseHostKeyAlias(hop, 1, false)).toBe('hyperkube-hop-1')
})
