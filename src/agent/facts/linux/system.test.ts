import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import {
  isUfwEnabled,
  parseActiveUnits,
  parseEnforce,
  parseRelease,
  parseSystemdVersion,
  readFirewalls,
  readInit,
  readNetworkManager,
  readPrograms,
} from './system.ts'

const ubuntu = `PRETTY_NAME="Ubuntu 24.04.1 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.1 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
`
const rhel = `NAME="Red Hat Enterprise Linux"
VERSION="9.4 (Plow)"
ID="rhel"
ID_LIKE="fedora"
VERSION_ID="9.4"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Red Hat Enterprise Linux 9.4 (Plow)"
ANSI_COLOR="0;31"
`
const arch = `NAME="Arch Linux"
PRETTY_NAME="Arch Linux"
ID=arch
BUILD_ID=rolling
`

test.each([
  [ubuntu, { id: 'ubuntu', version: '24.04', name: 'Ubuntu 24.04.1 LTS' }],
  [rhel, { id: 'rhel', version: '9.4', name: 'Red Hat Enterprise Linux 9.4 (Plow)' }],
  [arch, { id: 'arch', version: '', name: 'Arch Linux' }],
  [
    `NAME='It'\nID=x\nPRETTY_NAME="a \\"quoted\\" \\$name"\n`,
    { id: 'x', version: '', name: 'a "quoted" $name' },
  ],
  ['', { id: 'linux', version: '', name: 'Linux' }],
])('the os-release file %j is parsed as %j', (text, found) => {
  expect(parseRelease(text)).toEqual(found)
})

test.each([
  ['Debian 12', '/usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-252.so', '252'],
  ['Ubuntu 22.04', '/usr/lib/systemd/libsystemd-shared-249.so', '249'],
  ['RHEL 9', '/usr/lib64/systemd/libsystemd-shared-252-32.el9_4.7.so', '252'],
  ['after an upgrade', '/usr/lib/systemd/libsystemd-core-255.so (deleted)', '255'],
  ['another library', '/usr/lib/x86_64-linux-gnu/libsystemd.so.0.35.0', ''],
])('the version of systemd is read from its library: %s', (_, library, version) => {
  expect(parseSystemdVersion(`7f2ac4a00000-7f2ac4c46000 r-xp 00000000 08:01 1835 ${library}\n`)).toBe(version)
})

test('the init system is systemd if /run/systemd/system exists, else process 1', async () => {
  const files = { '/proc/1/comm': 'init\n' }
  expect(await readInit(createFakeFactSource({ files }))).toEqual({ name: 'init', version: '' })
  const booted = { ...files, '/run/systemd/system/x': '' }
  expect(await readInit(createFakeFactSource({ files: booted }))).toEqual({ name: 'systemd', version: '' })
})

const command =
  'systemctl is-active firewalld.service ufw.service docker.service snap.docker.dockerd.service NetworkManager.service keepalived.service'

function host(states: string, ufw = '') {
  return createFakeFactSource({
    commands: { [command]: `${states.replaceAll(' ', '\n')}\n` },
    files: { '/etc/ufw/ufw.conf': ufw },
  })
}

test('an active firewalld and NetworkManager are found, as on RHEL', async () => {
  const source = host('active inactive inactive inactive active')
  expect(await readFirewalls(source)).toEqual(['firewalld'])
  expect(await readNetworkManager(source)).toBe(true)
})

test('ufw counts only if it is enabled', async () => {
  const states = 'inactive active active inactive inactive'
  expect(
    await readFirewalls(host(states, '# Set to yes to start on boot.\nENABLED=yes\nLOGLEVEL=low\n')),
  ).toEqual(['ufw', 'docker'])
  expect(await readFirewalls(host(states, 'ENABLED=no\n'))).toEqual(['docker'])
  expect(isUfwEnabled('#ENABLED=yes\n')).toBe(false)
})

test('Docker from the snap store counts as Docker', async () => {
  expect(await readFirewalls(host('inactive inactive inactive active inactive'))).toEqual(['docker'])
})

test('without systemd, no firewall and no NetworkManager is active', async () => {
  expect(await readFirewalls(createFakeFactSource({}))).toEqual([])
  expect(await readNetworkManager(createFakeFactSource({}))).toBe(false)
})

test('a reloading unit is active', () => {
  expect([...parseActiveUnits(['a', 'b', 'c'], 'reloading\nactivating\nfailed\n')]).toEqual(['a'])
})

test('programs are found only in the search path of services', async () => {
  const files = {
    '/usr/sbin/nft': '',
    '/bin/mount': '',
    '/usr/local/bin/socat': '',
    '/home/me/bin/iptables': '',
  }
  expect(await readPrograms(createFakeFactSource({ files }))).toEqual(['mount', 'nft', 'socat'])
})

test.each([
  [undefined, 'disabled'],
  ['0', 'permissive'],
  ['1', 'enforcing'],
])('the SELinux enforce value %j means %s', (text, state) => {
  expect(parseEnforce(text)).toBe(state)
})
