import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { readContainer } from './container.ts'

test.each([
  ['a machine', { '/proc/1/environ': 'HOME=/\0init=/sbin/init\0TERM=linux\0BOOT_IMAGE=/vmlinuz\0' }, false],
  ['nspawn', { '/run/host/container-manager': 'systemd-nspawn\n' }, true],
  ['LXC', { '/proc/1/environ': 'container=lxc\0TERM=linux\0' }, true],
  ['Podman', { '/run/.containerenv': '' }, true],
  ['Docker', { '/.dockerenv': '' }, true],
  ['a machine that names something else', { '/proc/1/environ': 'mycontainer=x\0container=\0' }, false],
])('%s', async (_, files, expected) => {
  expect(await readContainer(createFakeFactSource({ files }))).toBe(expected)
})
