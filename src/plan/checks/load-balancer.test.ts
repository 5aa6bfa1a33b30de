import { expect, test } from 'vitest'
import { checkCase, checkCaseBriefly } from './testing/fixtures.ts'

const addresses = [
  { interface: 'lo', address: '127.0.0.1', prefix: 8 },
  { interface: 'eth0', address: '10.0.0.21', prefix: 24 },
  { interface: 'eth1', address: '10.1.0.21', prefix: 24 },
  { interface: 'cni0', address: '10.244.1.1', prefix: 24 },
]

function checkPool(pool: string, bgp = '') {
  const spec = [`loadBalancer: { addresses: [${pool}]${bgp} }`]
  return checkCase({ spec, facts: { w1: { linux: { addresses } }, cp1: { linux: { addresses } } } }).filter(
    ({ host }) => host === 'w1',
  )
}

test('a pool in a network of the host is no finding', () => {
  expect(checkPool('10.0.0.240/28')).toEqual([])
  expect(checkPool('10.0.0.240-10.0.0.250, 10.1.0.240-10.1.0.250')).toEqual([])
})

test('a pool outside the networks of the host is a warning in layer 2', () => {
  expect(checkPool('10.9.0.0/24')).toEqual([
    {
      code: 'HOST_POOL_OUTSIDE',
      severity: 'warning',
      message:
        '10.9.0.0/24 is not in a network of the host: other machines may not find Services there by ARP',
      hint: 'use addresses of the network of the hosts, route them to the hosts, or set bgp',
      component: 'metallb-speaker',
      path: 'spec.loadBalancer.addresses',
      host: 'w1',
    },
  ])
  expect(checkPool('10.0.0.240-10.0.1.9')).toMatchObject([{ code: 'HOST_POOL_OUTSIDE' }])
  expect(checkPool('10.9.0.0/24', ', bgp: { asn: 1, peers: [{ address: 10.0.0.1, asn: 2 }] }')).toEqual([])
})

test('an address of the host in the pool is an error', () => {
  expect(checkPool('10.1.0.20-10.1.0.30')).toMatchObject([
    {
      code: 'HOST_POOL_TAKEN',
      severity: 'error',
      message: 'eth1 has the address 10.1.0.21, which is in the pool of load balancers (10.1.0.20-10.1.0.30)',
    },
  ])
})

test('ports of the speaker must be free on nodes, unless the speaker itself listens', () => {
  const listeners = (process: string) => ({ linux: { listeners: [{ port: 7946, process }] } })
  const check = (process: string, spec: readonly string[]) =>
    checkCaseBriefly({ spec, facts: { w1: listeners(process), etcd1: listeners(process) } })
  const spec = ['loadBalancer: { addresses: [10.0.0.240/28] }']
  expect(check('dockerd', spec)).toEqual(['w1 error HOST_PORT_TAKEN'])
  expect(check('speaker', spec)).toEqual([])
  expect(check('dockerd', [])).toEqual([])
})
