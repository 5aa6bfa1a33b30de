import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NetworkProbeTarget, TcpTarget, UdpTarget } from '../../contract/network-probe.ts'
import { createNetworkProbe, type NetworkProbe } from './network-probe.ts'

const never = new AbortController().signal
const token = '9f86d081884c7d659a2feaa0c55ad015'
const other = '00000000000000000000000000000000'
/** A random loopback address, so that no other process uses its ports. */
const address = `127.77.${1 + Math.floor(Math.random() * 250)}.${1 + Math.floor(Math.random() * 250)}`
const [etcd, kubelet, vxlan] = [2380, 10_250, 4789]

let here: NetworkProbe
let there: NetworkProbe

beforeEach(() => {
  here = createNetworkProbe({ tcpMs: 300, udpMs: 300 })
  there = createNetworkProbe()
})
afterEach(async () => there.stopListening(token))

async function listen(peers = there, by = token, signal = never) {
  return peers.listen({ address, tcp: [etcd, kubelet], udp: [vxlan], token: by, for: 30_000 }, signal)
}

async function outcomes(...targets: readonly NetworkProbeTarget[]): Promise<string[]> {
  return (await here.probe(targets, never)).map(({ outcome }) => outcome)
}

const tcp: TcpTarget = { protocol: 'tcp', address, port: etcd }
const udp: UdpTarget = { protocol: 'udp', address, port: vxlan, token, sizes: [64, 1472] }

test('a listener is found by clients that know the token', async () => {
  expect(await listen()).toEqual({ tcp: [etcd, kubelet], udp: [vxlan] })
  expect(await here.probe([{ ...tcp, token }, udp], never)).toEqual([
    { outcome: 'ok', milliseconds: expect.any(Number) },
    { outcome: 'ok', milliseconds: expect.any(Number), size: 1472 },
  ])
  expect(
    await outcomes(tcp, { ...tcp, token: other }, { ...tcp, port: kubelet, token }, { ...udp, token: other }),
  ).toEqual(['ok', 'unexpected-response', 'ok', 'timeout'])
})

test('a closed port is refused', async () => {
  expect(await outcomes(tcp, { ...tcp, token }, udp)).toEqual(['refused', 'refused', 'refused'])
})

test('results of many targets are in the order of the targets', async () => {
  await listen()
  const targets = Array.from({ length: 300 }, (_, index) => ({ ...tcp, port: index % 2 === 0 ? etcd : 1 }))
  expect(await outcomes(...targets)).toEqual(targets.map(({ port }) => (port === etcd ? 'ok' : 'refused')))
})

test('a port in use is not opened, and a probe without a token reaches its owner', async () => {
  const server = createServer((guest) => guest.resume().on('error', () => undefined))
  await once(server.listen(etcd, address), 'listening')
  const socket = createSocket('udp4')
  socket.bind(vxlan, address)
  await once(socket, 'listening')
  try {
    expect(await listen()).toEqual({ tcp: [kubelet], udp: [] })
    // This server accepts the connection and sends nothing, so a probe that expects a token fails.
    expect(await outcomes(tcp, { ...tcp, token }, udp)).toEqual(['ok', 'unexpected-response', 'timeout'])
  } finally {
    server.close()
    socket.close()
  }
})

test('the size of the largest datagram that arrives is reported', async () => {
  const narrow = createSocket('udp4')
  narrow.on('message', ({ length }, { port, address: from }) => {
    if (length <= 1372) narrow.send(`${token} ${length}`, port, from)
  })
  narrow.bind(vxlan, address)
  await once(narrow, 'listening')
  try {
    expect(await here.probe([{ ...udp, sizes: [548, 1252, 1372, 1472] }], never)).toEqual([
      { outcome: 'too-big', milliseconds: expect.any(Number), size: 1372 },
    ])
  } finally {
    narrow.close()
  }
})

test('a datagram that was lost once is sent again', async () => {
  const result: number[] = []
  const lossy = createSocket('udp4')
  lossy.on('message', ({ length }, { port, address: from }) => {
    result.push(length)
    if (result.length > 1) lossy.send(`${token} ${length}`, port, from)
  })
  lossy.bind(vxlan, address)
  await once(lossy, 'listening')
  try {
    expect(await outcomes({ ...udp, sizes: [1472] })).toEqual(['ok'])
    expect(result).toEqual([1472, 1472])
  } finally {
    lossy.close()
  }
})

test('there is no reply without the token', async () => {
  await listen()
  const foreign = createSocket('udp4')
  const received: string[] = []
  foreign.on('message', (text) => received.push(text.toString()))
  foreign.send('hello', vxlan, address)
  foreign.send(token, vxlan, address)
  await once(foreign, 'message')
  foreign.close()
  expect(received).toEqual([`${token} 32`])
})

test('only one requester at a time: a second one gets no ports, and cannot close those of the first', async () => {
  await listen()
  expect(await listen(there, other)).toEqual({ tcp: [], udp: [] })
  await there.stopListening(other)
  expect(await outcomes({ ...tcp, token })).toEqual(['ok'])
})

test('ports are free again after stopListening, also with a connected client', async () => {
  await listen()
  const guest = connect({ host: address, port: etcd, allowHalfOpen: true })
  await once(guest, 'data')
  await there.stopListening(token)
  expect(await listen(here, other)).toEqual({ tcp: [etcd, kubelet], udp: [vxlan] })
  await here.stopListening(other)
  guest.destroy()
})

test('ports are free again when the requester disconnects, or the time is over', async () => {
  const abort = new AbortController()
  await listen(there, token, abort.signal)
  abort.abort()
  await expect.poll(async () => (await listen()).tcp, { interval: 5 }).toEqual([etcd, kubelet])
  await there.stopListening(token)
  await there.listen({ address, tcp: [etcd], udp: [], token, for: 5 }, never)
  await expect.poll(async () => (await listen()).tcp, { interval: 5 }).toEqual([etcd, kubelet])
})

test('an aborted probe does not wait for its timeout', async () => {
  const silent = createSocket('udp4')
  silent.bind(vxlan, address)
  await once(silent, 'listening')
  const abort = new AbortController()
  const slow = createNetworkProbe({ tcpMs: 60_000, udpMs: 60_000 })
  const probing = slow.probe([udp], abort.signal)
  abort.abort()
  expect(await probing).toMatchObject([{ outcome: 'timeout' }])
  silent.close()
})
