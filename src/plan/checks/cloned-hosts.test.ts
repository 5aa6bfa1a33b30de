import { expect, test } from 'vitest'
import { checkCaseBriefly, checkCase } from './testing/fixtures.ts'

test('a copy of another host is named with the first of them', () => {
  const machineId = '0123456789abcdef0123456789abcdef'
  const found = checkCase({ facts: { cp1: { linux: { machineId } }, w1: { linux: { machineId } } } })
  expect(found).toEqual([
    {
      code: 'HOST_CLONED',
      severity: 'error',
      message: 'it has the machine id of cp1: one is a copy of the other',
      hint: 'on the copy: rm -f /etc/machine-id /var/lib/dbus/machine-id && systemd-machine-id-setup && reboot',
      host: 'w1',
    },
  ])
})

test('hosts without an id are not copies of each other', () => {
  const linux = { machineId: '' }
  expect(checkCase({ facts: { cp1: { linux }, w1: { linux } } })).toEqual([])
})

test('two hosts of one name are confused by people', () => {
  const found = checkCaseBriefly({
    facts: { w1: { linux: { hostname: 'same' } }, win1: { windows: { hostname: 'SAME' } } },
  })
  expect(found).toEqual(['win1 warning HOST_NAME_DUPLICATE'])
})
