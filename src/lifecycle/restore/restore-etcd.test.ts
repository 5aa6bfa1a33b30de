import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { etcdData, etcdUnit } from '../../contract/etcd-restore.ts'
import type { AgentRequest } from '../../contract/request.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { clusterWith, planInput } from '../../plan/testing/fixtures.ts'
import { type Script, scriptedSession, works } from '../testing/scripted-agent.ts'
import { planFrom } from '../build-proposal.ts'
import { testWish } from '../testing/cluster-inputs.ts'
import { type RestoreWish, restoreEtcd } from './restore-etcd.ts'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: cp2, address: 10.0.0.2, roles: [control-plane] }',
  '{ name: w1, address: 10.0.0.3, roles: [worker] }',
)
const wish = await testWish(cluster)
const { plans } = planFrom(wish, planInput(cluster).facts, [])
const restore = {
  id: '11111111-1111-4111-8111-111111111111',
  snapshot: 'a'.repeat(64),
  members: ['cp1=https://10.0.0.1:2380', 'cp2=https://10.0.0.2:2380'],
}

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'restore-'))
  await writeFile(join(directory, 'data'), 'data')
})
afterAll(async () => rm(directory, { recursive: true }))

interface Scene {
  /** Those that have not got their data before. */
  readonly due?: readonly string[]
  readonly fresh?: RestoreWish['fresh']
  readonly stale?: RestoreWish['stale']
  readonly script?: (host: string) => Script
  readonly signal?: AbortSignal
}

/** All that hosts were asked, one after the other, and the error there was. */
async function restored({
  due = ['cp1', 'cp2'],
  fresh = [],
  stale = new Map(),
  script = () => works,
  signal,
}: Scene = {}) {
  const done: string[] = []
  const asks: AgentRequest['ask'][] = []
  const sessions = new Map(
    plans.map(({ host }) => {
      const session = scriptedSession(host, {
        run: script(host),
        asked: {
          push(ask) {
            asks.push(ask)
            if (!['hello', 'attach'].includes(ask.type)) done.push(wordsOf(host, ask))
          },
        },
        remote: {
          exec: async () => ({ code: 0, stdout: '', stderr: '', bytes: Buffer.alloc(0) }),
          upload: async (_source, target) =>
            void done.push(`${host} gets ${target.split('/').at(-1)?.slice(0, 4)}`),
        },
      })
      return [host, session] as const
    }),
  )
  const archive = { path: join(directory, 'data'), size: 4, sha256: 'dada'.repeat(16) }
  const error: unknown = await restoreEtcd(
    wish,
    { restore, members: ['cp1', 'cp2'], archives: new Map(due.map((host) => [host, archive])), fresh, stale },
    sessions,
    {
      claim: { holder: 'me', generation: 1 },
      tell: () => undefined,
      now: () => new Date(),
      signal: signal ?? new AbortController().signal,
    },
  ).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { done, asks, error }
}

function wordsOf(host: string, ask: AgentRequest['ask']): string {
  return ask.type === 'stop-services' ? `${host} stops ${ask.components.join(' ')}` : `${host} ${ask.type}`
}

const everybody = 'kubelet hyperkube-controller-manager kube-scheduler kube-controller-manager kube-apiserver'
const usual = [
  ['cp1 gets dada', 'cp2 gets dada'],
  [`cp1 stops ${everybody}`, `cp2 stops ${everybody}`, `w1 stops ${everybody}`],
  ['cp1 stops etcd', 'cp2 stops etcd'],
  ['cp1 place-etcd', 'cp2 place-etcd'],
  ['cp1 end-restore', 'cp2 end-restore'],
]

/** Hosts of a step are asked side by side. */
function inSteps(done: readonly string[], sizes: readonly number[]): string[][] {
  let from = 0
  return sizes.map((size) => done.slice(from, (from += size)).toSorted())
}

test('data is brought first, who acts on it stops before etcd, and all have it before any may start', async () => {
  const { done, error } = await restored()
  expect(error).toBeUndefined()
  expect(inSteps(done, [2, 3, 2, 2, 2])).toEqual(usual)
  expect(done).toHaveLength(11)
})

test('whoever has its data from a run before gets it no second time', async () => {
  const { done } = await restored({ due: ['cp2'] })
  expect(done.filter((line) => /gets|place/.test(line))).toEqual(['cp2 gets dada', 'cp2 place-etcd'])
  expect(done.slice(-2).toSorted()).toEqual(usual[4])
})

test('a member that does not get its data keeps all of them from starting', async () => {
  const fails: Script = async function* () {
    yield {
      type: 'run-ended',
      result: { outcome: 'failed', failure: { code: 'APPLY_DISK_FULL', message: 'no room' } },
    }
  }
  let runs = 0
  const { done, error } = await restored({
    script: (host) => (name, through) => (host === 'cp2' && ++runs === 3 ? fails : works)(name, through),
  })
  expect(error).toBeInstanceOf(HyperkubeError)
  expect(error).toMatchObject({ code: 'APPLY_DISK_FULL', host: 'cp2' })
  expect(done.some((line) => line.includes('end-restore'))).toBe(false)
})

test('whoever is no member any more need not remember a restore that nobody will end', async () => {
  const other = '22222222-2222-4222-8222-222222222222'
  const { asks } = await restored({ stale: new Map([['w1', other]]) })
  const ended = asks.flatMap((ask) => (ask.type === 'end-restore' ? [ask.id] : []))
  expect(ended.toSorted()).toEqual([restore.id, restore.id, other])
})

test('who interrupts it before anything has stopped finds everything running', async () => {
  const { done } = await restored({ signal: AbortSignal.abort(new Error('enough')) })
  expect(done).toEqual([])
})

test('a host without an etcd gets all of it but its service, so that it cannot start with nothing', async () => {
  const fresh = plans.filter(({ host }) => host === 'cp2').map((plan) => ({ plan, ops: [] }))
  const { done, asks } = await restored({ fresh })
  expect(done.slice(0, 2)).toEqual(['cp2 certificate-requests', 'cp2 apply'])
  const [applied] = asks.flatMap((ask) => (ask.type === 'apply' ? [ask] : []))
  const etcd = applied?.plan.components.find(({ name }) => name === 'etcd')
  expect(applied?.through).toBe('etcd')
  expect([etcd?.users, etcd?.service, etcd?.probes]).toEqual([['etcd'], undefined, []])
})

test('plans have etcd’s data where a restore puts it', () => {
  const etcd = plans[0]?.components.find(({ name }) => name === 'etcd')
  expect(etcd?.service).toMatchObject({
    name: etcdUnit,
    unit: expect.stringContaining(`--data-dir=${etcdData}`),
  })
})
