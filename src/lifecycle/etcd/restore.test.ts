import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { etcdDataDirectory, etcdUnit } from '../../contract/etcd-restore.ts'
import type { AgentRequest } from '../../contract/request.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { buildTestCluster, buildPlanInput } from '../../plan/testing/fixtures.ts'
import { type AgentScript, scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import { planFromInputs } from '../proposal/proposal.ts'
import { buildClusterInputs } from '../testing/cluster-inputs.ts'
import { type RestoreSpec, restoreEtcd } from './restore.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: cp2, address: 10.0.0.2, roles: [control-plane] }',
  '{ name: w1, address: 10.0.0.3, roles: [worker] }',
)
const inputs = await buildClusterInputs(cluster)
const { plans } = planFromInputs(inputs, buildPlanInput(cluster).facts, [])
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

interface RunSetup {
  /** Members that did not receive their data in an earlier run. */
  readonly hostsWithoutData?: readonly string[]
  readonly newMembers?: RestoreSpec['newMembers']
  readonly staleRestores?: RestoreSpec['staleRestores']
  readonly script?: (host: string) => AgentScript
  readonly signal?: AbortSignal
}

/** Runs a restore. Returns all requests in order, and the error if the restore failed. */
async function runRestore({
  hostsWithoutData = ['cp1', 'cp2'],
  newMembers = [],
  staleRestores = new Map(),
  script = () => successfulRun,
  signal,
}: RunSetup = {}) {
  const done: string[] = []
  const requests: AgentRequest['body'][] = []
  const sessions = new Map(
    plans.map(({ host }) => {
      const session = scriptedSession(host, {
        run: script(host),
        requests: {
          push(request) {
            requests.push(request)
            if (!['hello', 'attach'].includes(request.type)) done.push(formatRequest(host, request))
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
    inputs,
    {
      restore,
      members: ['cp1', 'cp2'],
      archives: new Map(hostsWithoutData.map((host) => [host, archive])),
      newMembers,
      staleRestores,
    },
    sessions,
    {
      claim: { holder: 'me', generation: 1 },
      emit: () => undefined,
      now: () => new Date(),
      signal: signal ?? new AbortController().signal,
    },
  ).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { done, requests, error }
}

function formatRequest(host: string, request: AgentRequest['body']): string {
  return request.type === 'stop-services'
    ? `${host} stops ${request.components.join(' ')}`
    : `${host} ${request.type}`
}

const stoppedComponents =
  'kubelet hyperkube-controller-manager kube-scheduler kube-controller-manager kube-apiserver'
const expectedSteps = [
  ['cp1 gets dada', 'cp2 gets dada'],
  [`cp1 stops ${stoppedComponents}`, `cp2 stops ${stoppedComponents}`, `w1 stops ${stoppedComponents}`],
  ['cp1 stops etcd', 'cp2 stops etcd'],
  ['cp1 restore-etcd-data', 'cp2 restore-etcd-data'],
  ['cp1 end-restore', 'cp2 end-restore'],
]

/** Splits requests into steps and sorts each step, because the hosts of a step run concurrently. */
function splitIntoSteps(done: readonly string[], sizes: readonly number[]): string[][] {
  let from = 0
  return sizes.map((size) => done.slice(from, (from += size)).toSorted())
}

test('data is uploaded first, components stop before etcd, and all members have data before any starts', async () => {
  const { done, error } = await runRestore()
  expect(error).toBeUndefined()
  expect(splitIntoSteps(done, [2, 3, 2, 2, 2])).toEqual(expectedSteps)
  expect(done).toHaveLength(11)
})

test('a member with data from an earlier run does not receive it again', async () => {
  const { done } = await runRestore({ hostsWithoutData: ['cp2'] })
  expect(done.filter((line) => /gets|restore-etcd-data/.test(line))).toEqual([
    'cp2 gets dada',
    'cp2 restore-etcd-data',
  ])
  expect(done.slice(-2).toSorted()).toEqual(expectedSteps[4])
})

test('if one member fails to restore its data, no member starts', async () => {
  const fails: AgentScript = async function* () {
    yield {
      type: 'run-ended',
      result: { outcome: 'failed', failure: { code: 'APPLY_DISK_FULL', message: 'no room' } },
    }
  }
  let runs = 0
  const { done, error } = await runRestore({
    script: (host) => (name, through) =>
      (host === 'cp2' && ++runs === 3 ? fails : successfulRun)(name, through),
  })
  expect(error).toBeInstanceOf(HyperkubeError)
  expect(error).toMatchObject({ code: 'APPLY_DISK_FULL', host: 'cp2' })
  expect(done.some((line) => line.includes('end-restore'))).toBe(false)
})

test('a removed member forgets a stale restore', async () => {
  const other = '22222222-2222-4222-8222-222222222222'
  const { requests } = await runRestore({ staleRestores: new Map([['w1', other]]) })
  const ended = requests.flatMap((request) => (request.type === 'end-restore' ? [request.id] : []))
  expect(ended.toSorted()).toEqual([restore.id, restore.id, other])
})

test('an interrupt before the first stop sends no request', async () => {
  const { done } = await runRestore({ signal: AbortSignal.abort(new Error('enough')) })
  expect(done).toEqual([])
})

test('a new etcd member gets its etcd component without the service, so that it cannot start without data', async () => {
  const newMembers = plans.filter(({ host }) => host === 'cp2').map((plan) => ({ plan, ops: [] }))
  const { done, requests } = await runRestore({ newMembers })
  expect(done.slice(0, 2)).toEqual(['cp2 certificate-requests', 'cp2 apply'])
  const [applied] = requests.flatMap((request) => (request.type === 'apply' ? [request] : []))
  const etcd = applied?.plan.components.find(({ name }) => name === 'etcd')
  expect(applied?.through).toBe('etcd')
  expect([etcd?.users, etcd?.service, etcd?.probes]).toEqual([['etcd'], undefined, []])
})

test('the etcd data directory of plans is that of a restore', () => {
  const etcd = plans[0]?.components.find(({ name }) => name === 'etcd')
  expect(etcd?.service).toMatchObject({
    name: etcdUnit,
    unit: expect.stringContaining(`--data-dir=${etcdDataDirectory}`),
  })
})
