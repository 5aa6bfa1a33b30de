import { expect, test } from 'vitest'
import { inMemory } from '../testing/fake-fact-source.ts'
import { firewalls, isUfwEnabled, networkManager, parseStates } from './managers.ts'

const question =
  'systemctl is-active firewalld.service ufw.service docker.service snap.docker.dockerd.service NetworkManager.service'

function host(states: string, ufw = '') {
  return inMemory({
    commands: { [question]: `${states.replaceAll(' ', '\n')}\n` },
    files: { '/etc/ufw/ufw.conf': ufw },
  })
}

test('as on RHEL', async () => {
  const source = host('active inactive inactive inactive active')
  expect(await firewalls(source)).toEqual(['firewalld'])
  expect(await networkManager(source)).toBe(true)
})

test('ufw counts when it is told to do something', async () => {
  const states = 'inactive active active inactive inactive'
  expect(
    await firewalls(host(states, '# Set to yes to start on boot.\nENABLED=yes\nLOGLEVEL=low\n')),
  ).toEqual(['ufw', 'docker'])
  expect(await firewalls(host(states, 'ENABLED=no\n'))).toEqual(['docker'])
  expect(isUfwEnabled('#ENABLED=yes\n')).toBe(false)
})

test('Docker may have come from the store', async () => {
  expect(await firewalls(host('inactive inactive inactive active inactive'))).toEqual(['docker'])
})

test('without systemd nothing of it is active', async () => {
  expect(await firewalls(inMemory({}))).toEqual([])
  expect(await networkManager(inMemory({}))).toBe(false)
})

test('one that reads its settings again is active meanwhile', () => {
  expect([...parseStates(['a', 'b', 'c'], 'reloading\nactivating\nfailed\n')]).toEqual(['a'])
})
