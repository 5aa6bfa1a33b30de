import { expect, test } from 'vitest'
import { createFakeFactSource, type FakeHostContent } from '../testing/fake-fact-source.ts'
import {
  parseLinks,
  parseMachineId,
  parseRoutes,
  parseServers,
  readAddresses,
  readResolver,
} from './network.ts'

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

test('addresses that are not link-local are reported with the MTU of their interface', async () => {
  const files = { '/sys/class/net/eth0/address': `${mac}\n`, '/sys/class/net/eth0/mtu': '9001\n' }
  expect(await readAddresses(createFakeFactSource(buildHost({ files })))).toEqual([
    { interface: 'eth0', address: '10.0.0.11', prefix: 24, mtu: 9001 },
    { interface: 'eth0', address: '2001:db8::11', prefix: 64, mtu: 9001 },
    { interface: 'eth0:1', address: '10.0.0.12', prefix: 32, mtu: 9001 },
  ])
})

test('the MTU comes from ip if /sys shows an interface with another MAC address', async () => {
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

test('the MTU is parsed for every kind of link', () => {
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

const heading = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT'

function routes(...lines: readonly string[]): string {
  return `${[heading, ...lines].join('\n')}\n`
}

test('of two default routes the one with the lower metric counts', () => {
  const text = routes(
    'wlp2s0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0',
    'enp1s0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0',
    'enp1s0\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0',
  )
  expect(parseRoutes(text)).toBe('enp1s0')
})

test('a route to half of all addresses and a reject route are not default routes', () => {
  const text = routes(
    'tun0\t00000000\t0100080A\t0003\t0\t0\t0\t00000080\t0\t0\t0',
    '*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0',
  )
  expect(parseRoutes(text)).toBeUndefined()
  expect(parseRoutes('')).toBeUndefined()
})

test.each([
  ['983ebda6dd16263972e38480f7b99b07\n', '983ebda6dd16263972e38480f7b99b07'],
  // Files without a machine id: of an image before its first boot, and of an image that was cleared for
  // cloning.
  ['uninitialized\n', ''],
  ['', ''],
])('the machine id file %j has the id %j', (text, id) => {
  expect(parseMachineId(text)).toBe(id)
})

const stub = `# This is /run/systemd/resolve/stub-resolv.conf managed by man:systemd-resolved(8).
# Do not edit.

nameserver 127.0.0.53
options edns0 trust-ad
search example.com
`
const upstream =
  '# Managed by man:systemd-resolved(8).\nnameserver 10.0.0.2\nnameserver 2001:db8::53\nsearch example.com\n'
const file = '/etc/resolv.conf'
const real = '/run/systemd/resolve/resolv.conf'

test('the upstream servers of the systemd-resolved stub are reported, as on Ubuntu', async () => {
  const links = { [file]: '../run/systemd/resolve/stub-resolv.conf' }
  expect(
    await readResolver(createFakeFactSource({ files: { [file]: stub, [real]: upstream }, links })),
  ).toEqual({
    file: real,
    servers: ['10.0.0.2', '2001:db8::53'],
    systemdResolved: true,
  })
})

test('a resolv.conf that links to the upstream servers is used directly', async () => {
  const found = await readResolver(
    createFakeFactSource({ files: { [file]: upstream, [real]: upstream }, links: { [file]: real } }),
  )
  expect(found).toEqual({ file, servers: ['10.0.0.2', '2001:db8::53'], systemdResolved: true })
})

test('a resolv.conf of NetworkManager is used directly, as on RHEL', async () => {
  const files = { [file]: '# Generated by NetworkManager\nsearch example.com\nnameserver 192.168.122.1\n' }
  expect(await readResolver(createFakeFactSource({ files }))).toEqual({
    file,
    servers: ['192.168.122.1'],
    systemdResolved: false,
  })
})

test('a DNS server on the host itself is reported unchanged', async () => {
  const { servers } = await readResolver(
    createFakeFactSource({ files: { [file]: 'nameserver 127.0.0.1\n', [real]: upstream } }),
  )
  expect(servers).toEqual(['127.0.0.1'])
})

test('only complete nameserver lines are parsed', () => {
  expect(
    parseServers(
      '#nameserver 1.1.1.1\n nameserver 2.2.2.2\nnameserver\t9.9.9.9 # quad\nnameservers 3.3.3.3\n',
    ),
  ).toEqual(['9.9.9.9'])
})
