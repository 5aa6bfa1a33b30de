import { expect, test } from 'vitest'
import { checkCaseBriefly, checkCase } from './testing/fixtures.ts'

const withMtu = (mtu: number) => [`network: { flannel: { mtu: ${mtu} } }`]

test('packets must fit through the interface of every node', () => {
  const addresses = [{ interface: 'eth0', address: '10.0.0.21', prefix: 24, mtu: 1400 }]
  expect(checkCase({ spec: withMtu(1450), facts: { w1: { linux: { addresses } } } })).toEqual([
    {
      code: 'HOST_MTU',
      severity: 'warning',
      message: 'the MTU 1450 of cluster.yml exceeds the MTU 1400 of eth0: large packets would be lost',
      hint: 'mtu: 1400',
      path: 'spec.network.flannel.mtu',
      component: 'flanneld',
      host: 'w1',
    },
  ])
})

test('a member of etcd has no pods, and Windows goes by its own', () => {
  expect(checkCaseBriefly({ spec: withMtu(9000) })).toEqual(['cp1 warning HOST_MTU', 'w1 warning HOST_MTU'])
})

test('there is no finding without a setting, if it fits, or if the MTU is unknown', () => {
  const addresses = [{ interface: 'eth0', address: '10.0.0.21', prefix: 24 }]
  expect(checkCaseBriefly({})).toEqual([])
  expect(checkCaseBriefly({ spec: withMtu(1500) })).toEqual([])
  expect(checkCaseBriefly({ spec: withMtu(1501), facts: { w1: { linux: { addresses } } } })).not.toContain(
    'w1 warning HOST_MTU',
  )
})
