import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EtcdRestoreProgress } from '../../../contract/etcd-restore.ts'
import type { Event } from '../../../contract/event.ts'
import type { Op } from '../../../contract/op.ts'
import type { AgentRequest } from '../../../contract/request.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { scriptedSession, successfulRun } from '../../../lifecycle/testing/scripted-agent.ts'
import type { Session } from '../../../lifecycle/agents/session.ts'
import { createEventStream } from '../../../lifecycle/agents/event-stream.ts'
import { createFakeClusterClient } from '../../../lifecycle/testing/fake-cluster-client.ts'
import { buildClusterInputs } from '../../../lifecycle/testing/cluster-inputs.ts'
import { buildTestCluster, buildPlanInput } from '../../../plan/testing/fixtures.ts'
import { createInMemoryContext, type InMemoryOptions } from '../../testing/run-in-memory.ts'
import { clusterIdentity, buildSnapshotManifest } from '../testing/fixtures.ts'
import { restoreConnectedHosts } from '../../../actions/restore.ts'
import { createActionRun, exitCodeByStatus } from '../../run/run-action.ts'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }',
  '{ name: cp2, address: 10.0.0.2, roles: [control-plane, worker] }',
  '{ name: cp3, address: 10.0.0.3, roles: [control-plane, worker] }',
)
const inputs = await buildClusterInputs(cluster, clusterIdentity)
const names = cluster.spec.hosts.map(({ name }) => name)
const manifest = buildSnapshotManifest(clusterIdentity)
/** Op that a host reports while its etcd is stopped. */
const start: Op = {
  component: 'etcd',
  stage: 'etcd',
  action: 'start',
  target: 'service',
  name: 'etcd.service',
  because: [],
}
const fakeClient = createFakeClusterClient()

let directory: string
let etcdutl: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'restore-'))
  etcdutl = join(directory, 'etcdutl')
  const text =
    '#!/bin/sh\nfor word; do case $word in --data-dir=*) /bin/mkdir -p "${word#*=}/member";; esac; done\n'
  await writeFile(etcdutl, text, { mode: 0o755 })
})
afterAll(async () => rm(directory, { recursive: true }))

interface RestoreSetup {
  readonly environment?: InMemoryOptions
  readonly yes?: true
  readonly unreachable?: readonly string[]
  readonly restores?: ReadonlyMap<string, EtcdRestoreProgress>
  readonly created?: readonly string[]
  readonly broken?: true
  readonly dryRun?: boolean
}

async function run({
  environment = {},
  yes,
  unreachable = [],
  restores = new Map(),
  created = [],
  broken,
  dryRun = false,
}: RestoreSetup) {
  const done: string[] = []
  const requests: AgentRequest['body'][] = []
  const events: Event[] = []
  const messages: string[] = []
  const { context } = createInMemoryContext({}, environment)
  const { facts } = buildPlanInput(cluster)
  const sessionOf = (host: string): Session => {
    const hostFacts = facts.get(host)
    if (hostFacts === undefined) throw new Error(`there are no facts of ${host}`)
    const ops = [{ ...start, action: created.includes(host) ? ('create' as const) : start.action }]
    return scriptedSession(host, {
      run: successfulRun,
      facts: hostFacts,
      ops,
      requests: {
        push(request) {
          requests.push(request)
          done.push(`${host} ${request.type}`)
        },
      },
      remote: {
        exec: async () => ({ code: 0, stdout: '', stderr: '', bytes: Buffer.alloc(0) }),
        upload: async () => void done.push(`${host} upload`),
        dial: async () => Promise.reject(new HyperkubeError('SSH_DIAL_REFUSED', 'connection refused')),
      },
    })
  }
  const reachable = names.filter((name) => !unreachable.includes(name))
  const unreachableError = new HyperkubeError('SSH_UNREACHABLE', 'no answer')
  const globalOptions = {
    file: 'cluster.yml',
    output: 'table',
    input: true,
    ...(yes === undefined ? {} : { yes }),
  } as const
  const reporter = {
    emit: createEventStream('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', context.now, [
      (event) => void events.push(event),
    ]),
    print: (text: string) => void messages.push(text),
  }
  const snapshot = {
    name: 'one.snapshot',
    manifest,
    previousIdentity: clusterIdentity,
    file: join(directory, 'etcd.db'),
    small: {
      'cluster.identity': Buffer.alloc(0),
      'cluster.yml': Buffer.alloc(0),
      'cluster.lock': Buffer.alloc(0),
    },
  }
  const result = await restoreConnectedHosts({
    context,
    options: {
      files: { file: 'cluster.yml' },
      forgetHostKeys: [],
      ignore: [],
      forceUnlock: false,
      dryRun,
      snapshot,
      programs: { etcd: 'none', etcdutl: broken === undefined ? etcdutl : '/bin/false' },
      directory,
    },
    inputs,
    connected: {
      sessions: new Map(reachable.map((name) => [name, sessionOf(name)])),
      agents: new Map(),
      unreachable: new Map(unreachable.map((name) => [name, unreachableError])),
      restores,
      provisionalChanges: new Map(),
      close: async () => undefined,
    },
    removedHosts: { sessions: new Map(), connect: async () => new Map() },
    run: createActionRun(context, globalOptions, true, reporter),
    createClient: async () => fakeClient,
    deferAbort: () => undefined,
    deferredSignal: new AbortController().signal,
  }).then(
    ({ status, ...rest }) => ({ code: exitCodeByStatus[status], ...rest }),
    (error: unknown) => ({ error }),
  )
  return {
    result,
    done,
    restored: requests.flatMap((request) => (request.type === 'restore-etcd-data' ? [request.restore] : [])),
    output: messages.join(''),
    findings: events.flatMap(({ body }) =>
      body.type === 'finding' ? [`${body.finding.severity} ${body.finding.code}`] : [],
    ),
  }
}

const last = (done: readonly string[], type: string): number =>
  done.findLastIndex((line) => line.endsWith(type))
const first = (done: readonly string[], type: string): number => done.findIndex((line) => line.endsWith(type))
const changes = /claim|upload|stop-services|restore-etcd-data|end-restore|apply/

test('all members get their data while everything is stopped, then everything is started as usual', async () => {
  const { result, done, restored, output: messages } = await run({ environment: { replies: ['shop'] } })
  expect(result).toEqual({ code: 0, result: { outcome: 'done' } })
  expect(messages).toContain('their number is unknown, because no etcd member answers')
  expect(last(done, 'upload')).toBeLessThan(first(done, 'stop-services'))
  expect(last(done, 'stop-services')).toBeLessThan(first(done, 'restore-etcd-data'))
  expect(last(done, 'restore-etcd-data')).toBeLessThan(first(done, 'end-restore'))
  expect(last(done, 'end-restore')).toBeLessThan(first(done, 'apply'))
  expect(restored).toHaveLength(3)
  expect(new Set(restored.map(({ id }) => id)).size).toBe(1)
  expect(restored[0]).toMatchObject({
    snapshot: manifest.files['etcd.db'].sha256,
    members: ['cp1=https://10.0.0.1:2380', 'cp2=https://10.0.0.2:2380', 'cp3=https://10.0.0.3:2380'],
  })
})

test('a restore without the typed cluster name changes nothing', async () => {
  for (const environment of [{ replies: [''] }, {}]) {
    const { result, done } = await run({ environment })
    expect(result).toMatchObject({ result: { outcome: 'unchanged' } })
    expect(done.filter((line) => changes.test(line))).toEqual([])
  }
})

test('a dry run shows what would be lost, does not prompt and changes nothing', async () => {
  const { result, done, output: messages } = await run({ dryRun: true, yes: true })
  expect(result).toEqual({ code: 3, result: { outcome: 'unchanged' } })
  expect(messages).toContain('  lost: all changes since the snapshot')
  expect(done.filter((line) => changes.test(line))).toEqual([])
})

test('an unreachable etcd member prevents the restore', async () => {
  const { result, done, findings } = await run({ unreachable: ['cp3'], yes: true })
  expect(result).toMatchObject({
    code: 1,
    result: { failure: { hint: expect.stringContaining('remove the host from cluster.yml') } },
  })
  expect(findings).toEqual(['error SSH_UNREACHABLE'])
  expect(done).toEqual([])
})

test('a database that etcdutl rejects stops no service', async () => {
  const { result, done } = await run({ yes: true, broken: true })
  expect(result).toMatchObject({ error: { code: 'SNAPSHOT_NOT_RESTORED' } })
  expect(done.filter((line) => changes.test(line))).toEqual([])
})

test('an interrupted restore continues with the members that have no new data yet', async () => {
  const before: EtcdRestoreProgress = {
    id: '11111111-1111-4111-8111-111111111111',
    snapshot: manifest.files['etcd.db'].sha256,
    members: ['cp1=https://10.0.0.1:2380', 'cp2=https://10.0.0.2:2380', 'cp3=https://10.0.0.3:2380'],
    state: 'data-restored',
  }
  const restores = new Map<string, EtcdRestoreProgress>([
    ['cp1', before],
    ['cp2', { ...before, state: 'begun' }],
  ])
  const { done, restored } = await run({ restores, yes: true })
  expect(done.filter((line) => line.endsWith('restore-etcd-data')).toSorted()).toEqual([
    'cp2 restore-etcd-data',
    'cp3 restore-etcd-data',
  ])
  expect(restored.map(({ id }) => id)).toEqual([before.id, before.id])
  const other = await run({
    restores: new Map([['cp1', { ...before, snapshot: 'b'.repeat(64) }]]),
    yes: true,
  })
  expect(other.restored).toHaveLength(3)
  expect(other.restored[0]?.id).not.toBe(before.id)
})

test('hosts that never had etcd are prepared first and start with the restored data', async () => {
  const { result, done } = await run({ created: ['cp1', 'cp2', 'cp3'], yes: true })
  expect(result).toEqual({ code: 0, result: { outcome: 'done' } })
  expect(done.filter((line) => line.endsWith('apply'))).toHaveLength(6)
  expect(first(done, 'apply')).toBeLessThan(first(done, 'upload'))
})
