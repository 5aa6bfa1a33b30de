import { expect, test } from 'vitest'
import { names, type PeersCase, somePeers } from './testing/fixtures.ts'
import { type Need, needsOf } from './required-connection.ts'
import { targetOf } from './probe-target.ts'

const token = '9f86d081884c7d659a2feaa0c55ad015'

function needTo(protocol: 'tcp' | 'udp', wish: PeersCase = {}): Need {
  const peers = somePeers({ workers: 1, controlPlanes: 1, ...wish })
  const need = needsOf(peers, names(peers)).find(
    ({ to, port }) => to.host === 'cp1' && port.protocol === protocol,
  )
  if (need === undefined) throw new Error('nobody needs it')
  return need
}

test('a port that the agent has opened must answer with its token, any other only accept', () => {
  const need = needTo('tcp')
  const target = { protocol: 'tcp', address: '10.1.0.1', port: 6443 }
  expect(targetOf(need, { token, tcp: [6443], udp: [] })).toEqual({ ...target, token })
  expect(targetOf(need, { token, tcp: [2380], udp: [6443] })).toEqual(target)
  expect(targetOf(need, undefined)).toEqual(target)
})

test('datagrams are as large as packets of pods will be, and some are smaller', () => {
  const opened = { token, tcp: [], udp: [4789] }
  const sizes = [1472, 1452, 1432, 1422, 1392, 1372, 1322, 1252, 548]
  expect(targetOf(needTo('udp'), opened)).toEqual({
    protocol: 'udp',
    address: '10.1.0.1',
    port: 4789,
    token,
    sizes,
  })
  const narrow = needTo('udp', { spec: ['network: { flannel: { mtu: 1300 } }'] })
  expect(targetOf(narrow, opened)).toMatchObject({ sizes: [1272, 1252, 548] })
})

test('that the size is the sender’s own, and never beyond what a datagram can have', () => {
  const opened = { token, tcp: [], udp: [4789] }
  const interfaceOf = (mtu: number): PeersCase => ({
    facts: { w1: { linux: { addresses: [{ interface: 'eth0', address: '10.3.0.1', prefix: 24, mtu }] } } },
  })
  expect(targetOf(needTo('udp', interfaceOf(9001)), opened)).toMatchObject({
    sizes: expect.arrayContaining([8973, 8872, 1472]),
  })
  expect(targetOf(needTo('udp', interfaceOf(65_536)), opened)).toMatchObject({
    sizes: expect.arrayContaining([65_507]),
  })
  expect(targetOf(needTo('udp', interfaceOf(68)), opened)).toMatchObject({ sizes: [64] })
})

test('where the pod network has the port already nothing can be learned of it', () => {
  expect(targetOf(needTo('udp'), { token, tcp: [4789], udp: [] })).toBeUndefined()
  expect(targetOf(needTo('udp'), undefined)).toBeUndefined()
})
