import { expect, test } from 'vitest'
import { createFakeFactSource, type FakeHostContent } from '../testing/fake-fact-source.ts'
import { readAddresses, parseLinks } from './addresses.ts'

const mac = '52:54:00:12:34:56'
const eth0 = { netmask: '255.255.255.0', family: 'IPv4' as const, mac, internal: false }

function buildHost(content: FakeHostContent): FakeHostContent {
  return {
    interfaces: {
      eth0: [
        { ...eth0, address: '10.0.0.11', cidr: '10.0.0.11/24' },
        {
          ...eth0,
          family: 'IPv6',
          scopeid: 2,
          address: 'fe80::5054:ff:fe12:3456',
          cidr: 'fe80::5054:ff:fe12:3456/64',
        },
        { ...eth0, family: 'IPv6', scopeid: 0, address: '2001:db8::11', cidr: '2001:db8::11/64' },
      ],
      'eth0:1': [{ ...eth0, address: '10.0.0.12', cidr: '10.0.0.12/32' }],
    },
    ...content,
  }
}

test('addresses that others could use, each with the size of packets that its interface takes', async () => {
  const files = { '/sys/class/net/eth0/address': `${mac}\n`, '/sys/class/net/eth0/mtu': '9001\n' }
  expect(await readAddresses(createFakeFactSource(buildHost({ files })))).toEqual([
    { interface: 'eth0', address: '10.0.0.11', prefix: 24, mtu: 9001 },
    { interface: 'eth0', address: '2001:db8::11', prefix: 64, mtu: 9001 },
    { interface: 'eth0:1', address: '10.0.0.12', prefix: 32, mtu: 9001 },
  ])
})

test('where /sys shows the eth0 of another, ip is asked', async () => {
  const files = { '/sys/class/net/eth0/address': '06:fc:00:00:00:01\n', '/sys/class/net/eth0/mtu': '1400\n' }
  const commands = {
    'ip -o link': '2: eth0@if896: <BROADCAST,UP> mtu 1500 qdisc noqueue state UP \\    link/ether\n',
  }
  const found = await readAddresses(createFakeFactSource(buildHost({ files, commands })))
  expect(found.map(({ mtu }) => mtu)).toEqual([1500, 1500, 1500])
})

test('without a source the MTU is omitted', async () => {
  const [first] = await readAddresses(createFakeFactSource(buildHost({})))
  expect(first).toEqual({ interface: 'eth0', address: '10.0.0.11', prefix: 24 })
})

test('links of every kind', () => {
  const text = `1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\\    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: enp1s0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP mode DEFAULT group default qlen 1000\\    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
3: bond0.100@bond0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 8950 qdisc noqueue state UP mode DEFAULT group default qlen 1000\\    link/ether 52:54:00:12:34:57 brd ff:ff:ff:ff:ff:ff
4: wg0: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu 1420 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\\    link/none
`
  expect(Object.fromEntries(parseLinks(text))).toEqual({
    lo: 65_536,
    enp1s0: 1500,
    'bond0.100': 8950,
    wg0: 1420,
  })
})
