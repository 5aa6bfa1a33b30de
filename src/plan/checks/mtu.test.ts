import { expect, test } from 'vitest'
import { briefly, findingsOf } from './testing/fixtures.ts'

const wish = (mtu: number) => [`network: { flannel: { mtu: ${mtu} } }`]

test('packets must fit through the interface of every node', () => {
  const addresses = [{ interface: 'eth0', address: '10.0.0.21', prefix: 24, mtu: 1400 }]
  expect(findingsOf({ spec: wish(1450), facts: { w1: { linux: { addresses } } } })).toEqual([
    {
      code: 'HOST_MTU',
      severity: 'warning',
      message: 'packets shall have 1450 bytes, and eth0 takes 1400: large ones would be lost',
      hint: 'mtu: 1400',
      path: 'spec.network.flannel.mtu',
      component: 'flanneld',
      host: 'w1',
    },
  ])
})

test('a member of etcd has no pods, and Windows goes by its own', () => {
  expect(briefly({ spec: wish(9000) })).toEqual(['cp1 warning HOST_MTU', 'w1 warning HOST_MTU'])
})

test('nothing is said where nothing is wished, where it fits, or where it could not be seen', () => {
  const addresses = [{ interface: 'eth0', address: '10.0.0.21', prefix: 24 }]
  expect(briefly({})).toEqual([])
  expect(briefly({ spec: wish(1500) })).toEqual([])
  expect(briefly({ spec: wish(1501), facts: { w1: { linux: { addresses } } } })).not.toContain(
    'w1 warning HOST_MTU',
  )
})
