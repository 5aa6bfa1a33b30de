import { expect, test } from 'vitest'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { ExecResult, Remote } from '../../ssh/remote.ts'
import type { Place } from '../host-endpoints.ts'
import { scriptedSession, works } from '../testing/scripted-agent.ts'
import { bounded } from './call-with-timeout.ts'
import { groundOf } from './observe-disks.ts'
import { linesOf } from './last-log-lines.ts'
import { lookAround, type Sights } from './observe-cluster.ts'
import { healthyLook, seenAt } from './testing/cluster-fixtures.ts'

type Answer = (ask: AgentRequest['ask']) => AgentResponse['answer'] | undefined

const well = healthyLook(1, 2)
const [cp1, w1, w2] = well.places

const units = `/opt/hyperkube/hyperkube-0.1.0
Id=kubelet.service
LoadState=loaded
ActiveState=failed
NRestarts=4
UnitFileState=disabled
`

function remoteOf({ host }: Place, answer: Answer, asked: AgentRequest['ask'][] = []): Remote {
  const exec = async ([, , script = '']: readonly string[]): Promise<ExecResult> => {
    const stdout = script.includes('readlink')
      ? units
      : script.includes('journalctl')
        ? 'unit kubelet.service\nline failed to load config\n'
        : 'disk /dev/sda1 1000 990 10 99% /var/lib/etcd\n'
    return { code: 0, stdout, stderr: '', bytes: Buffer.from(stdout) }
  }
  const { remote } = scriptedSession(host, { run: works, asked, answer, remote: { exec } })
  if (remote === undefined) throw new Error('a session begins with a way')
  return remote
}

const healthy: Answer = ({ type }) => {
  const health = well.hosts[0]?.agent
  return type === 'health' && health?.state === 'answers' && health.health !== undefined
    ? { type: 'health', health: health.health }
    : undefined
}

const calm: Omit<Sights, 'connect'> = {
  etcd: async () => (well.etcd.state === 'seen' ? well.etcd.observed : Promise.reject(new Error('silent'))),
  apiReady: async () => undefined,
  nodes: async () => well.nodes ?? [],
}
const options = {
  fresh: true,
  deep: true,
  certificates: false,
  now: () => new Date(seenAt),
  signal: new AbortController().signal,
}

test('hosts are looked at side by side: whoever is away, older or silent costs the others nothing', async () => {
  const asked: AgentRequest['ask'][] = []
  const look = await lookAround(
    well.places,
    {
      ...calm,
      async connect(host) {
        if (host === w1?.host) throw new HyperkubeError('SSH_UNREACHABLE', 'nobody answers', { host })
        if (host === w2?.host)
          return remoteOf(w2, () => ({ type: 'refused', code: 'CONTRACT_NOT_VALID', message: 'what?' }))
        return cp1 === undefined ? Promise.reject(new Error('no place')) : remoteOf(cp1, healthy, asked)
      },
    },
    options,
  )
  expect(asked).toEqual([{ type: 'hello' }, { type: 'health', fresh: true }])
  expect(look.hosts).toMatchObject([
    {
      away: undefined,
      version: '0.1.0',
      agent: { state: 'answers', health: { at: seenAt } },
      services: [{ name: 'kubelet', state: 'failed', restarts: 4, enabled: false }],
      disks: [{ mounted: '/var/lib/etcd', used: 0.99 }],
    },
    { away: { code: 'HOST_AWAY', reason: 'nobody answers' }, agent: { state: 'silent' } },
    { away: undefined, agent: { state: 'silent' } },
  ])
  expect(look.hosts[0]?.logs.get('kubelet')).toEqual(['failed to load config'])
})

test('an agent that does not know the question answers all the same', async () => {
  const old: Answer = ({ type }) =>
    type === 'health' ? { type: 'refused', code: 'CONTRACT_NOT_VALID', message: 'what?' } : undefined
  const { hosts } = await lookAround(
    well.places,
    {
      ...calm,
      connect: async () => (cp1 === undefined ? Promise.reject(new Error('')) : remoteOf(cp1, old)),
    },
    { ...options, only: new Set(['cp1']) },
  )
  expect(hosts).toMatchObject([{ agent: { state: 'answers', version: '0.1.0' } }])
  expect(hosts[0]?.agent).not.toHaveProperty('health')
})

test('with the API and etcd down the look is a look all the same', async () => {
  const down = async (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'))
  const look = await lookAround(
    well.places,
    { connect: down, etcd: down, apiReady: down, nodes: down },
    options,
  )
  expect(look).toMatchObject({ etcd: { state: 'silent', reason: 'connect ECONNREFUSED' }, nodes: undefined })
  expect(look.api.get('cp1')).toEqual({ well: false, reason: 'connect ECONNREFUSED' })
})

test('nobody is waited for without end, and an interruption is none of their faults', async () => {
  const never = async (): Promise<never> => new Promise(() => undefined)
  await expect(bounded(5, options.signal, never)).rejects.toThrow('no answer within 5 ms')
  const stop = new AbortController()
  const waiting = bounded(60_000, stop.signal, never)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('of disks and programs only what is wrong is kept', () => {
  const text = [
    'disk Filesystem 1024-blocks Used Available Capacity Mounted on',
    'disk /dev/sda1 1000 500 500 50% /',
    'disk /dev/sdb1 1000 1000 0 100% /var/lib/etcd',
    'disk /dev/sdb1 1000 1000 0 100% /var/lib/etcd',
    'program kubelet.service /opt/hyperkube/kubernetes/kubelet',
  ].join('\n')
  expect(groundOf(text)).toEqual({
    disks: [{ mounted: '/var/lib/etcd', used: 1 }],
    programs: [{ service: 'kubelet', path: '/opt/hyperkube/kubernetes/kubelet' }],
  })
  expect([...linesOf('unit a.service\nline one\nline two\nunit b.service\n')]).toEqual([
    ['a', ['one', 'two']],
    ['b', []],
  ])
})
