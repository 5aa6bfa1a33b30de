import { expect, test } from 'vitest'
import { checkCase, checkCaseBriefly, defaultHostLines } from './testing/fixtures.ts'

const lo = { interface: 'lo', address: '127.0.0.1', prefix: 8 }
const others = defaultHostLines.slice(0, 2)

test('an interface of cluster.yml that the host does not have is an error', () => {
  const line = '- { name: w1, address: 203.0.113.1, interface: eth7, roles: [worker] }'
  expect(checkCase({ hosts: [...others, line] })).toEqual([
    {
      code: 'HOST_NO_INTERFACE',
      severity: 'error',
      message: 'the host has no interface eth7 with an address; it has eth0',
      hint: 'interface: eth0',
      path: 'spec.hosts[2].interface',
      host: 'w1',
    },
  ])
})

test('a host with a DNS name as address needs an IPv4 address on its default interface', () => {
  const line = '- { name: w1, address: w1.example.com, roles: [worker] }'
  const ipv6 = { interface: 'eth0', address: '2001:db8::1', prefix: 64 }
  expect(checkCase({ hosts: [...others, line] })).toEqual([])
  const found = checkCase({ hosts: [...others, line], facts: { w1: { linux: { addresses: [lo, ipv6] } } } })
  expect(found).toMatchObject([
    {
      code: 'HOST_NO_ADDRESS',
      message: 'eth0 has no IPv4 address, so the other hosts cannot reach this host',
    },
  ])
})

test('an address that no interface of the host has is an error with a hint for internalAddress', () => {
  const line = '- { name: w1, address: 203.0.113.7, roles: [worker] }'
  const addresses = [
    lo,
    { interface: 'eth1', address: '192.168.7.2', prefix: 24 },
    { interface: 'eth0', address: '192.168.1.2', prefix: 24 },
  ]
  const found = checkCase({ hosts: [...others, line], facts: { w1: { linux: { addresses } } } })
  expect(found).toMatchObject([
    { code: 'HOST_ADDRESS_NOT_THERE', severity: 'error', hint: 'internalAddress: 192.168.1.2', host: 'w1' },
  ])
})

test('a worker that reports the address of a control plane is refused', () => {
  const control = '- { name: cp1, address: cp1.example.com, roles: [control-plane] }'
  const line = '- { name: w1, address: w1.example.com, roles: [worker] }'
  const eth0 = { interface: 'eth0', address: '192.168.1.2', prefix: 24 }
  const claimed = { linux: { addresses: [lo, eth0] } }
  const found = checkCase({ hosts: [control, line], facts: { cp1: claimed, w1: claimed } })
  expect(found.map(({ code, severity, host, message }) => [code, severity, host, message])).toEqual([
    ['HOST_ADDRESS_DUPLICATE', 'error', 'cp1', 'its address 192.168.1.2 is also the address of w1'],
    ['HOST_ADDRESS_DUPLICATE', 'error', 'w1', 'its address 192.168.1.2 is also the address of cp1'],
  ])
})

test('a loopback address in cluster.yml is an error', () => {
  const line = '- { name: w1, address: 127.0.0.1, roles: [worker] }'
  const addresses = [lo, { interface: 'eth0', address: '192.168.1.2', prefix: 24 }]
  const found = checkCase({ hosts: [...others, line], facts: { w1: { linux: { addresses } } } })
  expect(found).toMatchObject([{ code: 'HOST_NO_ADDRESS', hint: 'internalAddress: 192.168.1.2' }])
})

test('a host with the machine id of another host is reported as a clone', () => {
  const machineId = '0123456789abcdef0123456789abcdef'
  const found = checkCase({ facts: { cp1: { linux: { machineId } }, w1: { linux: { machineId } } } })
  expect(found).toEqual([
    {
      code: 'HOST_CLONED',
      severity: 'error',
      message: 'it has the same machine id as cp1: one is a clone of the other',
      hint: 'on the clone: rm -f /etc/machine-id /var/lib/dbus/machine-id && systemd-machine-id-setup && reboot',
      host: 'w1',
    },
  ])
})

test('hosts without a machine id are not reported as clones', () => {
  const linux = { machineId: '' }
  expect(checkCase({ facts: { cp1: { linux }, w1: { linux } } })).toEqual([])
})

test('two hosts with the same hostname give a warning, case-insensitively', () => {
  const found = checkCaseBriefly({
    facts: { w1: { linux: { hostname: 'same' } }, win1: { windows: { hostname: 'SAME' } } },
  })
  expect(found).toEqual(['win1 warning HOST_NAME_DUPLICATE'])
})
