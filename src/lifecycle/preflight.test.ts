import { afterEach, expect, test } from 'vitest'
import type { AgentRequest, AgentResponse } from '../contract/request.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { names, somePeers } from './network-preflight/testing/fixtures.ts'
import { rounds } from './network-preflight/probe-connections.ts'
import { needsOf } from './network-preflight/required-connection.ts'
import { preflight } from './preflight.ts'
import { scriptedSession } from './testing/scripted-agent.ts'
import type { Session } from './session.ts'

type Ask = AgentRequest['ask']
type Answer = AgentResponse['answer']

const sessions = new Map<string, Session>()
const asked = new Map<string, Ask[]>()
const peers = somePeers({ controlPlanes: 2, workers: 1 })

afterEach(async () => {
  await Promise.all([...sessions.values()].map(async (session) => session.close()))
  sessions.clear()
  asked.clear()
})

async function run(
  answer: (host: string, ask: Ask) => Answer | undefined = () => undefined,
  { fresh = names(peers), absent = [] }: { fresh?: ReadonlySet<string>; absent?: readonly string[] } = {},
) {
  for (const { host } of peers.filter((peer) => !absent.includes(peer.host))) {
    const own: Ask[] = []
    asked.set(host, own)
    const silent = async function* () {}
    sessions.set(host, scriptedSession(host, { run: silent, asked: own, answer: (ask) => answer(host, ask) }))
  }
  return preflight(sessions, peers, { fresh, now: () => new Date() })
}

/** What a host was asked, but for the first word. */
function types(host: string): string[] {
  return (asked.get(host) ?? []).map(({ type }) => type).slice(1)
}

function probes(host: string) {
  return (asked.get(host) ?? []).flatMap((ask) => (ask.type === 'probe' ? ask.targets : []))
}

test('hosts tell the time, listen, look, and are silent again', async () => {
  expect(await run()).toEqual([])
  for (const host of ['cp1', 'cp2', 'w1']) {
    expect(types(host)).toEqual(['clock', 'listen', 'probe', 'hush'])
  }
  const listens = [...asked.values()].flat().flatMap((ask) => (ask.type === 'listen' ? [ask] : []))
  expect(listens.map(({ address, tcp, udp }) => [address, tcp, udp])).toEqual([
    ['10.1.0.1', [2379, 2380, 6443, 10_250], [4789]],
    ['10.1.0.2', [2379, 2380, 6443, 10_250], [4789]],
    ['10.3.0.1', [10_250], [4789]],
  ])
  expect(new Set(listens.map(({ token }) => token)).size).toBe(3)
})

test('where nothing is new nobody is asked anything', async () => {
  expect(await run(undefined, { fresh: new Set() })).toEqual([])
  expect([...asked.values()].flat()).toEqual([])
})

test('of a host that joins the others look at it and it at them; only it listens', async () => {
  await run(undefined, { fresh: new Set(['w1']) })
  expect(types('cp1')).toEqual(['clock', 'probe'])
  expect(types('w1')).toEqual(['clock', 'listen', 'probe', 'hush'])
  // Its own datagrams would go to ports that the pod network has.
  expect(probes('w1')).toEqual([
    { protocol: 'tcp', address: '10.1.0.1', port: 6443 },
    { protocol: 'tcp', address: '10.1.0.2', port: 6443 },
  ])
  expect(probes('cp1').map(({ protocol, address }) => [protocol, address])).toEqual([
    ['tcp', '10.3.0.1'],
    ['udp', '10.3.0.1'],
  ])
})

test('what is taken is looked at without a token, or not at all', async () => {
  const taken = (_: string, ask: Ask): Answer | undefined =>
    ask.type === 'listen' ? { type: 'listening', tcp: [2380], udp: [] } : undefined
  await run(taken)
  const withToken = probes('cp1').flatMap(({ port, token }) => (token === undefined ? [] : [port]))
  expect(withToken).toEqual([2380])
  expect(probes('cp1').map(({ protocol }) => protocol)).not.toContain('udp')
})

test('what is seen becomes findings', async () => {
  const findings = await run((host, ask) => {
    if (ask.type === 'clock' && host === 'w1') return { type: 'clock', time: Date.now() + 60_000 }
    if (ask.type !== 'probe') return undefined
    const results = ask.targets.map(({ address, port }) => {
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
      message: 'cp2 and w1 do not reach its port 6443/tcp (kube-apiserver): no answer comes',
    },
  ])
})

test('hosts that did not answer are left out', async () => {
  expect(await run(undefined, { absent: ['cp2'] })).toEqual([])
  expect(probes('cp1').map(({ address }) => address)).not.toContain('10.1.0.2')
  expect(probes('w1').map(({ address }) => address)).toEqual(['10.1.0.1', '10.1.0.1'])
})

test('when a host fails, the others are silent again before that is told', async () => {
  const failing = run((host, ask) =>
    host === 'cp1' && ask.type === 'probe'
      ? { type: 'refused', code: 'UNEXPECTED', message: 'no more sockets' }
      : undefined,
  )
  await expect(failing).rejects.toThrow(HyperkubeError)
  for (const host of ['cp1', 'cp2', 'w1']) expect(types(host).at(-1)).toBe('hush')
})

test('nobody is asked for more at once than they may be', () => {
  const many = somePeers({ controlPlanes: 1, workers: 25 })
  const needs = needsOf(many, names(many))
  const split = rounds(needs, 10)
  expect(new Set(split.flat())).toEqual(new Set(needs))
  expect(split.flat()).toHaveLength(needs.length)
  expect(split).toHaveLength(3)
  for (const round of split) {
    for (const own of Map.groupBy(round, ({ from }) => from).values()) {
      expect(own.length).toBeLessThanOrEqual(10)
    }
  }
})
