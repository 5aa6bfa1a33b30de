import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { findMissingCapabilities, readContainer } from './capabilities.ts'

test('a machine has all capabilities that its kernel knows', () => {
  expect(findMissingCapabilities('CapBnd:\t000001ffffffffff\n', '40\n')).toEqual([])
  // RHEL 7 has 37 capabilities; the last one is CAP_BLOCK_SUSPEND.
  expect(findMissingCapabilities('CapBnd:\t0000001fffffffff\n', '36\n')).toEqual([])
})

test('a lab host lacks CAP_SYS_RESOURCE', () => {
  expect(findMissingCapabilities('CapBnd:\t000001fffeffffff\n', '40\n')).toEqual(['CAP_SYS_RESOURCE'])
})

test('a Docker container lacks most capabilities', () => {
  const missing = findMissingCapabilities('CapBnd:\t00000000a80425fb\n', '40\n')
  expect(missing).toHaveLength(41 - 14)
  expect(missing).toEqual(expect.arrayContaining(['CAP_NET_ADMIN', 'CAP_SYS_ADMIN', 'CAP_BPF']))
  expect(missing).not.toContain('CAP_CHOWN')
})

test.each([
  [
    'a machine is not a container',
    { '/proc/1/environ': 'HOME=/\0init=/sbin/init\0TERM=linux\0BOOT_IMAGE=/vmlinuz\0' },
    false,
  ],
  ['systemd-nspawn is a container', { '/run/host/container-manager': 'systemd-nspawn\n' }, true],
  ['LXC is a container', { '/proc/1/environ': 'container=lxc\0TERM=linux\0' }, true],
  ['Podman is a container', { '/run/.containerenv': '' }, true],
  ['Docker is a container', { '/.dockerenv': '' }, true],
  [
    'a machine with an empty container variable is not a container',
    { '/proc/1/environ': 'mycontainer=x\0container=\0' },
    false,
  ],
])('%s', async (_, files, expected) => {
  expect(await readContainer(createFakeFactSource({ files }))).toBe(expected)
})
