import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { parseIpv6Routes, readIpv6 } from './ipv6.ts'

const zero = '0'.repeat(32)
const gateway = 'fd00021000000000000000000000001'.padStart(32, '0')
const onLink = `fd000210000000000000000000000000 40 ${zero} 00 ${zero} 00000100 00000001 00000000 00000001     eth0`
const reject = `${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo`

function defaultRoute(name: string, metric: string): string {
  return `${zero} 00 ${zero} 00 ${gateway} ${metric} 00000001 00000000 00000003     ${name}`
}

const ipv6Address = { netmask: 'ffff:ffff:ffff:ffff::', family: 'IPv6' as const, mac: '', scopeid: 0 }
const interfaces = {
  lo: [{ ...ipv6Address, address: '::1', cidr: '::1/128', internal: true }],
  eth0: [{ ...ipv6Address, address: 'fd00:210::11', cidr: 'fd00:210::11/64', internal: false }],
  'bond0.100': [{ ...ipv6Address, address: 'fd00:211::11', cidr: 'fd00:211::11/64', internal: false }],
}

test('the default route with the lowest metric counts, and a reject route does not', () => {
  expect(parseIpv6Routes([onLink, reject].join('\n'))).toBeUndefined()
  const routes = [reject, defaultRoute('eth1', '00000400'), defaultRoute('eth0', '000000ff'), onLink, '']
  expect(parseIpv6Routes(routes.join('\n'))).toBe('eth0')
})

test('interfaces with router advertisements are listed, whether the host forwards or not', async () => {
  const files = {
    '/proc/net/ipv6_route': `${defaultRoute('eth0', '00000400')}\n${onLink}\n`,
    '/proc/sys/net/ipv6/conf/lo/accept_ra': '1\n',
    '/proc/sys/net/ipv6/conf/eth0/accept_ra': '1\n',
    '/proc/sys/net/ipv6/conf/bond0.100/accept_ra': '2\n',
  }
  expect(await readIpv6(createFakeFactSource({ interfaces, files }))).toEqual({
    defaultInterface: 'eth0',
    routerAdvertisements: ['eth0', 'bond0.100'],
  })
  const managed = { ...files, '/proc/sys/net/ipv6/conf/eth0/accept_ra': '0\n' }
  expect(await readIpv6(createFakeFactSource({ interfaces, files: managed }))).toMatchObject({
    routerAdvertisements: ['bond0.100'],
  })
})

test('a filter table that ip6tables cannot list is reported', async () => {
  const source = createFakeFactSource({ interfaces, files: { '/proc/net/ipv6_route': '' } })
  const readWith = async (code: number) => readIpv6({ ...source, run: async () => ({ code, stdout: '' }) })
  expect(await readWith(1)).toEqual({ routerAdvertisements: [], foreignFilterTable: true })
  expect(await readWith(0)).toEqual({ routerAdvertisements: [] })
})

test('a kernel without IPv6 has no such fact', async () => {
  expect(await readIpv6(createFakeFactSource({ interfaces: {}, files: {} }))).toBeUndefined()
})
