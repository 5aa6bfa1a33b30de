import { expect, test } from 'vitest'
import { listRequiredConnections, type RequiredConnection } from './required-connections.ts'
import { buildProbeTarget } from './probe-connections.ts'
import { buildPeers, listPeerNames, type PeersOptions } from './testing/fixtures.ts'

const token = '9f86d081884c7d659a2feaa0c55ad015'

function connectionTo(protocol: 'tcp' | 'udp', options: PeersOptions = {}): RequiredConnection {
  const peers = buildPeers({ workers: 1, controlPlanes: 1, ...options })
  const connection = listRequiredConnections(peers, listPeerNames(peers)).find(
    ({ to, port }) => to.host === 'cp1' && port.protocol === protocol,
  )
  if (connection === undefined) throw new Error('no such connection')
  return connection
}

test('a port that the agent opened is probed with a token, any other port without', () => {
  const connection = connectionTo('tcp')
  const target = { protocol: 'tcp', address: '10.1.0.1', port: 6443 }
  expect(buildProbeTarget(connection, { token, tcp: [6443], udp: [] })).toEqual({ ...target, token })
  expect(buildProbeTarget(connection, { token, tcp: [2380], udp: [6443] })).toEqual(target)
  expect(buildProbeTarget(connection, undefined)).toEqual(target)
})

test('UDP probes have the size of pod packets and several smaller sizes', () => {
  const opened = { token, tcp: [], udp: [4789] }
  const sizes = [1472, 1452, 1432, 1422, 1392, 1372, 1322, 1252, 548]
  expect(buildProbeTarget(connectionTo('udp'), opened)).toEqual({
    protocol: 'udp',
    address: '10.1.0.1',
    port: 4789,
    token,
    sizes,
  })
  const narrow = connectionTo('udp', { spec: ['network: { flannel: { mtu: 1300 } }'] })
  expect(buildProbeTarget(narrow, opened)).toMatchObject({ sizes: [1272, 1252, 548] })
})

test('the size of UDP probes follows the MTU of the sender, up to the largest datagram', () => {
  const opened = { token, tcp: [], udp: [4789] }
  const withMtu = (mtu: number): PeersOptions => ({
    facts: { w1: { linux: { addresses: [{ interface: 'eth0', address: '10.3.0.1', prefix: 24, mtu }] } } },
  })
  expect(buildProbeTarget(connectionTo('udp', withMtu(9001)), opened)).toMatchObject({
    sizes: expect.arrayContaining([8973, 8872, 1472]),
  })
  expect(buildProbeTarget(connectionTo('udp', withMtu(65_536)), opened)).toMatchObject({
    sizes: expect.arrayContaining([65_507]),
  })
  expect(buildProbeTarget(connectionTo('udp', withMtu(68)), opened)).toMatchObject({ sizes: [64] })
})

test('a UDP port that the agent could not open is not probed', () => {
  expect(buildProbeTarget(connectionTo('udp'), { token, tcp: [4789], udp: [] })).toBeUndefined()
  expect(buildProbeTarget(connectionTo('udp'), undefined)).toBeUndefined()
})
