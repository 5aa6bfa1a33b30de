import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { readInit, parseSystemdVersion } from './init.ts'

test.each([
  ['Debian 12', '/usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-252.so', '252'],
  ['Ubuntu 22.04', '/usr/lib/systemd/libsystemd-shared-249.so', '249'],
  ['RHEL 9', '/usr/lib64/systemd/libsystemd-shared-252-32.el9_4.7.so', '252'],
  ['after an upgrade', '/usr/lib/systemd/libsystemd-core-255.so (deleted)', '255'],
  ['another library', '/usr/lib/x86_64-linux-gnu/libsystemd.so.0.35.0', ''],
])('the version of systemd on %s', (_, library, version) => {
  expect(parseSystemdVersion(`7f2ac4a00000-7f2ac4c46000 r-xp 00000000 08:01 1835 ${library}\n`)).toBe(version)
})

test('who starts services', async () => {
  const files = { '/proc/1/comm': 'init\n' }
  expect(await readInit(createFakeFactSource({ files }))).toEqual({ name: 'init', version: '' })
  const booted = { ...files, '/run/systemd/system/x': '' }
  expect(await readInit(createFakeFactSource({ files: booted }))).toEqual({ name: 'systemd', version: '' })
})
