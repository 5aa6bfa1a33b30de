import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { readFirewalls, isUfwEnabled, readNetworkManager, parseActiveUnits } from './managers.ts'

const command =
  'systemctl is-active firewalld.service ufw.service docker.service snap.docker.dockerd.service NetworkManager.service'

function host(states: string, ufw = '') {
  return createFakeFactSource({
    commands: { [command]: `${states.replaceAll(' ', '\n')}\n` },
    files: { '/etc/ufw/ufw.conf': ufw },
  })
}

test('as on RHEL', async () => {
  const source = host('active inactive inactive inactive active')
  expect(await readFirewalls(source)).toEqual(['firewalld'])
  expect(await readNetworkManager(source)).toBe(true)
})

test('ufw counts when it is enabled', async () => {
  const states = 'inactive active active inactive inactive'
  expect(
    await readFirewalls(host(states, '# Set to yes to start on boot.\nENABLED=yes\nLOGLEVEL=low\n')),
  ).toEqual(['ufw', 'docker'])
  expect(await readFirewalls(host(states, 'ENABLED=no\n'))).toEqual(['docker'])
  expect(isUfwEnabled('#ENABLED=yes\n')).toBe(false)
})

test('Docker may have come from the store', async () => {
  expect(await readFirewalls(host('inactive inactive inactive active inactive'))).toEqual(['docker'])
})

test('without systemd nothing of it is active', async () => {
  expect(await readFirewalls(createFakeFactSource({}))).toEqual([])
  expect(await readNetworkManager(createFakeFactSource({}))).toBe(false)
})

test('one that reads its settings again is active meanwhile', () => {
  expect([...parseActiveUnits(['a', 'b', 'c'], 'reloading\nactivating\nfailed\n')]).toEqual(['a'])
})
