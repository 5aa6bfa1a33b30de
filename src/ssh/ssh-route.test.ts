import { expect, test } from 'vitest'
import { type SshRoute, resolveSshRoute, type SshSettings } from './ssh-route.ts'
import { noSshConfig, parseSshConfig } from './ssh-config.ts'

const operator = { user: 'ada', home: '/home/ada', directory: '/home/ada/cluster' }

function reach(ssh: SshSettings, cluster: SshSettings = {}, config = '', address = '10.0.0.5'): SshRoute {
  const parsed = config === '' ? noSshConfig : parseSshConfig(config)
  return resolveSshRoute({ name: 'cp1', address, ssh }, cluster, parsed, operator)
}

test('without settings, the route has the OpenSSH defaults', () => {
  expect(reach({})).toEqual({
    name: 'cp1',
    alias: '10.0.0.5',
    address: '10.0.0.5',
    port: 22,
    user: 'ada',
    keys: ['id_ed25519', 'id_ecdsa', 'id_rsa'].map((name) => ({
      path: `/home/ada/.ssh/${name}`,
      from: 'habit',
    })),
    onlyKeys: false,
    knownHosts: {
      name: '10.0.0.5',
      files: [
        '/home/ada/.ssh/known_hosts',
        '/home/ada/.ssh/known_hosts2',
        '/etc/ssh/ssh_known_hosts',
        '/etc/ssh/ssh_known_hosts2',
      ],
    },
    bastions: [],
  })
})

const config = `
User everywhere
Host 10.0.0.*
  User fleet
  Port 2222
  IdentityFile ~/.ssh/fleet-%r
  IdentityFile "%d/keys/with space"
Host web
  HostName web.%h.example.com
  IdentityFile none
  IdentitiesOnly yes
  IdentityAgent ~/agent.sock
Host *
  Port 22022
`

test('host settings take precedence over cluster settings, and those over ~/.ssh/config', () => {
  const { user, port } = reach({ user: 'root' }, { user: 'other', port: 1022 }, config)
  expect([user, port]).toEqual(['root', 1022])
})

test('in ~/.ssh/config, the first matching value applies', () => {
  expect(reach({}, {}, config)).toMatchObject({
    user: 'everywhere',
    port: 2222,
    keys: [
      { path: '/home/ada/.ssh/fleet-everywhere', from: 'config' },
      { path: '/home/ada/keys/with space', from: 'config' },
    ],
  })
  expect(reach({}, {}, config, 'web')).toMatchObject({
    alias: 'web',
    address: 'web.web.example.com',
    port: 22_022,
    keys: [],
    onlyKeys: true,
    agent: '/home/ada/agent.sock',
  })
})

test('a key of cluster.yml is the only key, and its path is relative to cluster.yml', () => {
  const paths = ['key', '~/key', '/key', '../key'].map((key) => reach({ key }, {}, config).keys)
  expect(paths.flat()).toEqual(
    ['/home/ada/cluster/key', '/home/ada/key', '/key', '/home/ada/key'].map((path) => ({
      path,
      from: 'settings',
    })),
  )
  expect(reach({}, { key: 'key' }).onlyKeys).toBe(true)
})

test('a bastion of cluster.yml has its own settings, and the host key file as a fallback', () => {
  const [bastion, ...more] = reach(
    { key: 'key', bastion: { address: 'Jump_1', port: 2200 } },
    { bastion: { address: 'unused' } },
    'Host Jump_1\n  User jumper\n  HostName 192.0.2.1',
  ).bastions
  expect(more).toEqual([])
  expect(bastion).toMatchObject({
    name: 'jump-1-2200',
    alias: 'Jump_1',
    address: '192.0.2.1',
    port: 2200,
    user: 'jumper',
    onlyKeys: false,
  })
  expect(bastion?.keys[0]).toEqual({ path: '/home/ada/cluster/key', from: 'config' })
  const own = reach({ key: 'key', bastion: { address: 'jump', key: 'own' } }).bastions[0]
  expect(own).toMatchObject({ keys: [{ path: '/home/ada/cluster/own' }], onlyKeys: true })
})

test('a host key of cluster.yml applies to one host or one bastion', () => {
  const bastion = { address: 'jump', hostKey: 'SHA256:jump' }
  const route = resolveSshRoute(
    { name: 'cp1', address: '10.0.0.5', ssh: { hostKey: 'SHA256:cp1' } },
    { bastion },
    noSshConfig,
    operator,
  )
  expect([route.hostKey, route.bastions[0]?.hostKey]).toEqual(['SHA256:cp1', 'SHA256:jump'])
})

test('the known_hosts name and files match those of OpenSSH', () => {
  const entry = (text: string, port = 22): SshRoute['knownHosts'] =>
    reach({ port }, {}, text, 'CP1').knownHosts
  expect(entry('Host other', 2222)?.name).toBe('[cp1]:2222')
  expect(entry('Host CP1\n  HostName Cp1.Example.com')?.name).toBe('cp1.example.com')
  expect(entry('Host CP1\n  HostKeyAlias fleet', 2222)?.name).toBe('fleet')
  expect(entry('UserKnownHostsFile ~/a "%d/b c"\nGlobalKnownHostsFile none')?.files).toEqual([
    '/home/ada/a',
    '/home/ada/b c',
  ])
  expect(entry('UserKnownHostsFile none')?.files).toEqual([
    '/etc/ssh/ssh_known_hosts',
    '/etc/ssh/ssh_known_hosts2',
  ])
})

const jumps = `
Host 10.0.0.5
  ProxyJump me@first:2201,second
Host first
  ProxyJump outer
Host second
  ProxyJump ignored
Host outer
  User out
`

test('the first host of a ProxyJump chain is reached through its own ProxyJump', () => {
  const { bastions } = reach({}, {}, jumps)
  expect(bastions.map(({ user, alias, port }) => `${user}@${alias}:${port}`)).toEqual([
    'out@outer:22',
    'me@first:2201',
    'ada@second:22',
  ])
})

test('a circular ProxyJump is refused', () => {
  expect(() => reach({}, {}, 'Host *\n  ProxyJump jump')).toThrow(
    expect.objectContaining({
      code: 'SSH_CONFIG_NOT_READ',
      message: 'ProxyJump in ~/.ssh/config is circular: 10.0.0.5, then jump, then jump',
    }),
  )
})

test('ProxyCommand is recorded as supported only by the ssh program', () => {
  expect(reach({}, {}, 'ProxyCommand nc %h %p').programOnly).toBe('ProxyCommand')
  expect(reach({}, {}, 'ProxyCommand none').programOnly).toBeUndefined()
  expect(
    reach({}, {}, 'Host 10.*\n ProxyJump j\nHost 10.* j\n ProxyCommand none').programOnly,
  ).toBeUndefined()
})
