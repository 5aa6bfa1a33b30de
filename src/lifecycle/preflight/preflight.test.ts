import { afterEach, expect, test } from 'vitest'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Session } from '../agents/session.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import { listRequiredConnections } from './required-connections.ts'
import { checkClockSkew, runPreflight } from './preflight.ts'
import { splitIntoRounds } from './probe-connections.ts'
import { buildPeers, listPeerNames } from './testing/fixtures.ts'

type RequestBody = AgentRequest['body']
type ResponseBody = AgentResponse['body']

const sessions = new Map<string, Session>()
const requests = new Map<string, RequestBody[]>()
const peers = buildPeers({ controlPlanes: 2, workers: 1 })

afterEach(async () => {
  await Promise.all([...sessions.values()].map(async (session) => session.close()))
  sessions.clear()
  requests.clear()
})

async function run(
  respond: (host: string, request: RequestBody) => ResponseBody | undefined = () => undefined,
  {
    tested = peers,
    newHosts = listPeerNames(tested),
    unreachable = [],
  }: { tested?: typeof peers; newHosts?: ReadonlySet<string>; unreachable?: readonly string[] } = {},
) {
  for (const { host } of tested.filter((peer) => !unreachable.includes(peer.host))) {
    const hostRequests: RequestBody[] = []
    requests.set(host, hostRequests)
    const silent = async function* () {}
    sessions.set(
      host,
      scriptedSession(host, {
        run: silent,
        requests: hostRequests,
        respond: (request) => respond(host, request),
      }),
    )
  }
  return runPreflight(sessions, tested, { newHosts, now: () => new Date() })
}

/** Types of the requests that a host received after the handshake. */
function types(host: string): string[] {
  return (requests.get(host) ?? []).map(({ type }) => type).slice(1)
}

function probes(host: string) {
  return (requests.get(host) ?? []).flatMap((request) => (request.type === 'probe' ? request.targets : []))
}

test('hosts report the time, listen, probe and stop listening', async () => {
  expect(await run()).toEqual([])
  for (const host of ['cp1', 'cp2', 'w1']) {
    expect(types(host)).toEqual(['clock', 'listen', 'probe', 'stop-listening'])
  }
  const listens = [...requests.values()]
    .flat()
    .flatMap((request) => (request.type === 'listen' ? [request] : []))
  expect(listens.map(({ address, tcp, udp }) => [address, tcp, udp])).toEqual([
    ['10.1.0.1', [2379, 2380, 6443, 10_250], [4789]],
    ['10.1.0.2', [2379, 2380, 6443, 10_250], [4789]],
    ['10.3.0.1', [10_250], [4789]],
  ])
  expect(new Set(listens.map(({ token }) => token)).size).toBe(3)
})

test('without new hosts no agent gets a request', async () => {
  expect(await run(undefined, { newHosts: new Set() })).toEqual([])
  expect([...requests.values()].flat()).toEqual([])
})

test('a joining host and its peers probe each other, and only the joining host listens', async () => {
  await run(undefined, { newHosts: new Set(['w1']) })
  expect(types('cp1')).toEqual(['clock', 'probe'])
  expect(types('w1')).toEqual(['clock', 'listen', 'probe', 'stop-listening'])
  // w1 sends no UDP probes, because the pod network already uses these ports on the other hosts.
  expect(probes('w1')).toEqual([
    { protocol: 'tcp', address: '10.1.0.1', port: 6443 },
    { protocol: 'tcp', address: '10.1.0.2', port: 6443 },
  ])
  expect(probes('cp1').map(({ protocol, address }) => [protocol, address])).toEqual([
    ['tcp', '10.3.0.1'],
    ['udp', '10.3.0.1'],
  ])
})

test('ports that the agent could not open are probed without a token by TCP, not by UDP', async () => {
  const taken = (_: string, request: RequestBody): ResponseBody | undefined =>
    request.type === 'listen' ? { type: 'listening', tcp: [2380], udp: [] } : undefined
  await run(taken)
  const withToken = probes('cp1').flatMap(({ port, token }) => (token === undefined ? [] : [port]))
  expect(withToken).toEqual([2380])
  expect(probes('cp1').map(({ protocol }) => protocol)).not.toContain('udp')
})

test('clock skew and blocked ports become findings', async () => {
  const findings = await run((host, request) => {
    if (request.type === 'clock' && host === 'w1') return { type: 'clock', time: Date.now() + 60_000 }
    if (request.type !== 'probe') return undefined
    const results = request.targets.map(({ address, port }) => {
      const blocked = address === '10.1.0.1' && port === 6443
      return { outcome: blocked ? ('timeout' as const) : ('ok' as const), milliseconds: 1 }
    })
    return { type: 'probed', results }
  })
  expect(findings).toMatchObject([
    { code: 'CLOCK_SKEW', severity: 'error', host: 'w1' },
    {
      code: 'PEER_PORT_BLOCKED',
      host: 'cp1',
      message: 'cp2 and w1 cannot reach its port 6443/tcp (kube-apiserver): no response',
    },
  ])
})

const eth0 = { interface: 'eth0', prefix: 24, mtu: 1500 }
const buildAddresses = (ipv4: string, ipv6: string) => ({
  linux: {
    addresses: [
      { ...eth0, address: ipv4 },
      { ...eth0, address: ipv6 },
    ],
  },
})
const ipv4Networks = ['10.128.0.0/10', '10.96.0.0/16']
const ipv6Networks = ['fd00:10:244::/48', 'fd00:10:96::/112']

/** A control plane and a worker with addresses of both families. */
function buildDualStackPeers(first: readonly string[], second: readonly string[]) {
  const [pods, services] = [0, 1].map((index) => `['${first[index]}', '${second[index]}']`)
  return buildPeers({
    workers: 1,
    spec: [`network: { pods: ${pods}, services: ${services} }`],
    facts: { cp1: buildAddresses('10.1.0.1', 'fd00::11'), w1: buildAddresses('10.3.0.1', 'fd00::21') },
  })
}

test('with IPv6 first, control planes must also reach kubelets over IPv6', async () => {
  const dropIpv6 = (_: string, request: RequestBody): ResponseBody | undefined => {
    if (request.type !== 'probe') return undefined
    const results = request.targets.map(({ address }) => {
      const outcome = address.includes(':') ? ('timeout' as const) : ('ok' as const)
      return { outcome, milliseconds: 1 }
    })
    return { type: 'probed', results }
  }
  const findings = await run(dropIpv6, { tested: buildDualStackPeers(ipv6Networks, ipv4Networks) })
  expect(probes('w1').map(({ address }) => address)).not.toContain('fd00::11')
  expect(probes('cp1')).toContainEqual(
    expect.objectContaining({ address: 'fd00::21', port: 10_250, token: expect.any(String) }),
  )
  expect(findings).toMatchObject([
    {
      code: 'PEER_PORT_BLOCKED',
      host: 'w1',
      message: 'cp1 cannot reach its port 10250/tcp over IPv6 (kubelet): no response',
    },
  ])
})

test('with IPv4 first, kubelets are reached over IPv4', async () => {
  await run(undefined, { tested: buildDualStackPeers(ipv4Networks, ipv6Networks) })
  expect(probes('cp1').filter(({ address }) => address.includes(':'))).toEqual([])
})

test('unreachable hosts are not probed', async () => {
  expect(await run(undefined, { unreachable: ['cp2'] })).toEqual([])
  expect(probes('cp1').map(({ address }) => address)).not.toContain('10.1.0.2')
  expect(probes('w1').map(({ address }) => address)).toEqual(['10.1.0.1', '10.1.0.1'])
})

test('when a host fails, the others stop listening before the error is thrown', async () => {
  const failing = run((host, request) =>
    host === 'cp1' && request.type === 'probe'
      ? { type: 'refused', code: 'UNEXPECTED', message: 'no more sockets' }
      : undefined,
  )
  await expect(failing).rejects.toThrow(HyperkubeError)
  for (const host of ['cp1', 'cp2', 'w1']) expect(types(host).at(-1)).toBe('stop-listening')
})

test('no host gets more probes at once than the limit', () => {
  const many = buildPeers({ controlPlanes: 1, workers: 25 })
  const needs = listRequiredConnections(many, listPeerNames(many))
  const split = splitIntoRounds(needs, 10)
  expect(new Set(split.flat())).toEqual(new Set(needs))
  expect(split.flat()).toHaveLength(needs.length)
  expect(split).toHaveLength(3)
  for (const round of split) {
    for (const hostRequests of Map.groupBy(round, ({ from }) => from).values()) {
      expect(hostRequests.length).toBeLessThanOrEqual(10)
    }
  }
})

const noon = 1_794_717_090_000

/**
 * Checks clocks that are ahead by the given seconds. `roundTrip` is the duration of each request in
 * milliseconds.
 */
function checkSkew(offsets: Readonly<Record<string, number>>, roundTrip = 40) {
  return checkClockSkew(
    Object.entries(offsets).map(([host, seconds]) => ({
      host,
      sentAt: noon,
      receivedAt: noon + roundTrip,
      time: noon + roundTrip / 2 + seconds * 1000,
    })),
  ).map(({ host, severity, message }) => `${host ?? 'here'} ${severity}: ${message}`)
}

test('clocks that agree have no findings', () => {
  expect(checkSkew({ a: 0, b: 1.9, c: -1.9 })).toEqual([])
  expect(checkSkew({})).toEqual([])
})

test('a few seconds are a warning, half a minute is an error', () => {
  expect(checkSkew({ a: 0, b: 3, c: -31 })).toEqual([
    'b warning: its clock is 3.0 s ahead of the other clocks',
    'c error: its clock is 31.0 s behind the other clocks',
  ])
})

test('if all hosts agree, the skew is reported for this machine', () => {
  expect(checkSkew({ a: 45, b: 45.1, c: 45 })).toEqual([
    'here error: the clock of this machine is 45.0 s behind those of the hosts',
  ])
})

test('if the clocks have no majority, the skew is reported for the hosts', () => {
  expect(checkSkew({ a: 3600 })).toEqual(['a error: its clock is 1 h 00 min ahead of the other clocks'])
  expect(checkSkew({ a: -5 })).toEqual(['a warning: its clock is 5.0 s behind the other clocks'])
  expect(checkSkew({ a: 0, b: 40, c: 40 })).toEqual([
    'b error: its clock is 40.0 s ahead of the other clocks',
    'c error: its clock is 40.0 s ahead of the other clocks',
  ])
})

test('the round trip does not count as skew', () => {
  // With a round trip of four seconds the reading is uncertain by two seconds, in addition to the two that
  // are tolerated.
  expect(checkSkew({ a: 3.9 }, 4000)).toEqual([])
  expect(checkSkew({ a: 4.1 }, 4000)).toHaveLength(1)
})
