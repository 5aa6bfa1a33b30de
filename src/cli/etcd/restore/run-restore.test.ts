import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EtcdRestore } from '../../../contract/etcd-restore.ts'
import type { Event } from '../../../contract/event.ts'
import type { Op } from '../../../contract/op.ts'
import type { AgentRequest } from '../../../contract/request.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { scriptedSession, works } from '../../../lifecycle/testing/scripted-agent.ts'
import type { Session } from '../../../lifecycle/session.ts'
import { eventStream } from '../../../lifecycle/event-stream.ts'
import { easyInterior } from '../../../lifecycle/testing/fake-cluster-writer.ts'
import { testWish } from '../../../lifecycle/testing/cluster-inputs.ts'
import { clusterWith, planInput } from '../../../plan/testing/fixtures.ts'
import { inMemory, type World } from '../../testing/run-in-memory.ts'
import { identity, manifestOf } from '../testing/fixtures.ts'
import { comeBack } from './run-restore.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }',
  '{ name: cp2, address: 10.0.0.2, roles: [control-plane, worker] }',
  '{ name: cp3, address: 10.0.0.3, roles: [control-plane, worker] }',
)
const wish = await testWish(cluster, identity)
const names = cluster.spec.hosts.map(({ name }) => name)
const manifest = manifestOf(identity)
/** Everything is stopped by then. */
const start: Op = {
  component: 'etcd',
  stage: 'etcd',
  action: 'start',
  target: 'service',
  name: 'etcd.service',
  because: [],
}
const well = async (): Promise<undefined> => undefined
const around = {
  members: async () => [],
  remembered: async () => [],
  etcdIds: async () => new Map<string, string>(),
  inside: well,
  etcdWell: well,
  apiReady: well,
  controllersReady: well,
  nodesReady: well,
  isVoter: well,
  drainFindings: async () => [],
  removedApis: async () => [],
  ...easyInterior,
  [Symbol.dispose]: () => undefined,
}

let directory: string
let etcdutl: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'come-back-'))
  etcdutl = join(directory, 'etcdutl')
  const text =
    '#!/bin/sh\nfor word; do case $word in --data-dir=*) /bin/mkdir -p "${word#*=}/member";; esac; done\n'
  await writeFile(etcdutl, text, { mode: 0o755 })
})
afterAll(async () => rm(directory, { recursive: true }))

interface Scene {
  readonly world?: World
  readonly yes?: true
  readonly missing?: readonly string[]
  readonly restores?: ReadonlyMap<string, EtcdRestore>
  readonly created?: readonly string[]
  readonly broken?: true
  readonly dryRun?: boolean
}

async function run({
  world = {},
  yes,
  missing = [],
  restores = new Map(),
  created = [],
  broken,
  dryRun = false,
}: Scene) {
  const done: string[] = []
  const asks: AgentRequest['ask'][] = []
  const events: Event[] = []
  const said: string[] = []
  const { context } = inMemory({}, world)
  const { facts } = planInput(cluster)
  const sessionOf = (host: string): Session => {
    const own = facts.get(host)
    if (own === undefined) throw new Error(`there are no facts of ${host}`)
    const ops = [{ ...start, action: created.includes(host) ? ('create' as const) : start.action }]
    return scriptedSession(host, {
      run: works,
      facts: own,
      ops,
      asked: {
        push(ask) {
          asks.push(ask)
          done.push(`${host} ${ask.type}`)
        },
      },
      remote: {
        exec: async () => ({ code: 0, stdout: '', stderr: '', bytes: Buffer.alloc(0) }),
        upload: async () => void done.push(`${host} upload`),
        dial: async () => Promise.reject(new HyperkubeError('SSH_DIAL_REFUSED', 'nobody listens')),
      },
    })
  }
  const there = names.filter((name) => !missing.includes(name))
  const gone = new HyperkubeError('SSH_UNREACHABLE', 'nobody answers')
  const verdict = await comeBack({
    context,
    options: { file: 'cluster.yml', output: 'table', input: true, ...(yes === undefined ? {} : { yes }) },
    flags: { ignore: [], forceUnlock: false, dryRun, plan: undefined, mayAsk: true },
    wish,
    crew: {
      sessions: new Map(there.map((name) => [name, sessionOf(name)])),
      agents: new Map(),
      missing: new Map(missing.map((name) => [name, gone])),
      restores,
      trials: new Map(),
      close: async () => undefined,
    },
    leavers: { sessions: new Map(), meet: async () => new Map() },
    run: {
      tell: eventStream('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', context.now, [
        (event) => void events.push(event),
      ]),
      say: (text) => void said.push(text),
    },
    look: async () => around,
    keep: async () => undefined,
    begin: () => undefined,
    lasting: new AbortController().signal,
    snapshot: {
      name: 'one.snapshot',
      manifest,
      former: identity,
      file: join(directory, 'etcd.db'),
      small: {
        'cluster.identity': Buffer.alloc(0),
        'cluster.yml': Buffer.alloc(0),
        'cluster.lock': Buffer.alloc(0),
      },
    },
    programs: { etcd: 'none', etcdutl: broken === undefined ? etcdutl : '/bin/false' },
    directory,
  }).catch((error: unknown) => ({ error }))
  return {
    verdict,
    done,
    placed: asks.flatMap((ask) => (ask.type === 'place-etcd' ? [ask.restore] : [])),
    said: said.join(''),
    findings: events.flatMap(({ what }) =>
      what.type === 'finding' ? [`${what.finding.severity} ${what.finding.code}`] : [],
    ),
  }
}

const last = (done: readonly string[], type: string): number =>
  done.findLastIndex((line) => line.endsWith(type))
const first = (done: readonly string[], type: string): number => done.findIndex((line) => line.endsWith(type))
const changes = /claim|upload|stop-services|place-etcd|end-restore|apply/

test('all members get their data while everything is stopped, and then it comes up as ever', async () => {
  const { verdict, done, placed, said } = await run({ world: { answers: ['shop'] } })
  expect(verdict).toEqual({ code: 0, result: { outcome: 'done' } })
  expect(said).toContain('no member of etcd answers to say how much')
  expect(last(done, 'upload')).toBeLessThan(first(done, 'stop-services'))
  expect(last(done, 'stop-services')).toBeLessThan(first(done, 'place-etcd'))
  expect(last(done, 'place-etcd')).toBeLessThan(first(done, 'end-restore'))
  expect(last(done, 'end-restore')).toBeLessThan(first(done, 'apply'))
  expect(placed).toHaveLength(3)
  expect(new Set(placed.map(({ id }) => id)).size).toBe(1)
  expect(placed[0]).toMatchObject({
    snapshot: manifest.files['etcd.db'].sha256,
    members: ['cp1=https://10.0.0.1:2380', 'cp2=https://10.0.0.2:2380', 'cp3=https://10.0.0.3:2380'],
  })
})

test('without the name of the cluster nothing is done', async () => {
  for (const world of [{ answers: [''] }, {}]) {
    const { verdict, done } = await run({ world })
    expect(verdict).toMatchObject({ result: { outcome: 'unchanged' } })
    expect(done.filter((line) => changes.test(line))).toEqual([])
  }
})

test('a dry run says what would be lost, asks nobody, and does nothing', async () => {
  const { verdict, done, said } = await run({ dryRun: true, yes: true })
  expect(verdict).toEqual({ code: 3, result: { outcome: 'unchanged' } })
  expect(said).toContain('  lost: all that was written since')
  expect(done.filter((line) => changes.test(line))).toEqual([])
})

test('a member that does not answer is waited for: it would come back with what it knew', async () => {
  const { verdict, done, findings } = await run({ missing: ['cp3'], yes: true })
  expect(verdict).toMatchObject({
    code: 1,
    result: { failure: { hint: expect.stringContaining('take it out of cluster.yml') } },
  })
  expect(findings).toEqual(['error SSH_UNREACHABLE'])
  expect(done).toEqual([])
})

test('what etcd’s own program does not take stops nothing', async () => {
  const { verdict, done } = await run({ yes: true, broken: true })
  expect(verdict).toMatchObject({ error: { code: 'SNAPSHOT_NOT_RESTORED' } })
  expect(done.filter((line) => changes.test(line))).toEqual([])
})

test('a restore that was cut goes on with those who have not got their data', async () => {
  const before: EtcdRestore = {
    id: '11111111-1111-4111-8111-111111111111',
    snapshot: manifest.files['etcd.db'].sha256,
    members: ['cp1=https://10.0.0.1:2380', 'cp2=https://10.0.0.2:2380', 'cp3=https://10.0.0.3:2380'],
    state: 'placed',
  }
  const restores = new Map<string, EtcdRestore>([
    ['cp1', before],
    ['cp2', { ...before, state: 'begun' }],
  ])
  const { done, placed } = await run({ restores, yes: true })
  expect(done.filter((line) => line.endsWith('place-etcd')).toSorted()).toEqual([
    'cp2 place-etcd',
    'cp3 place-etcd',
  ])
  expect(placed.map(({ id }) => id)).toEqual([before.id, before.id])
  const other = await run({
    restores: new Map([['cp1', { ...before, snapshot: 'b'.repeat(64) }]]),
    yes: true,
  })
  expect(other.placed).toHaveLength(3)
  expect(other.placed[0]?.id).not.toBe(before.id)
})

test('hosts that never had an etcd are made ready for it first, and are born with its data', async () => {
  const { verdict, done } = await run({ created: ['cp1', 'cp2', 'cp3'], yes: true })
  expect(verdict).toEqual({ code: 0, result: { outcome: 'done' } })
  expect(done.filter((line) => line.endsWith('apply'))).toHaveLength(6)
  expect(first(done, 'apply')).toBeLessThan(first(done, 'upload'))
})
