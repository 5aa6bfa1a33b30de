import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { ManagedClusterSpec } from '../../fleet/cluster-resource.ts'
import { initialMemberState, type MemberState } from '../../fleet/member-state.ts'
import { createTestOperator } from '../../fleet/testing/documents.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { FakeKubeApi } from '../../kube/testing/fake-kube-api.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import { FleetMember, type MemberTask } from './member.ts'
import { fleetCrds } from './resources.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})
const { serve, createClient } = createKubeTestBench(() => ca)

const operator = createTestOperator()
const path = '/apis/fleet.hyperkube.dev/v1/clusters/berlin'

let plane: FakeKubeApi
let state: MemberState
let now: Date
let enqueued: MemberTask[]
beforeEach(() => {
  plane = new FakeKubeApi()
  for (const crd of fleetCrds) plane.user('operator', { ...crd })
  plane.put(path, { apiVersion: 'fleet.hyperkube.dev/v1', kind: 'Cluster', spec: {} })
  state = initialMemberState
  now = new Date('2026-11-18T08:00:00.000Z')
  enqueued = []
})

async function startMember(): Promise<FleetMember> {
  const { url } = await serve(plane.respond)
  const client = createClient([url])
  const link = { name: 'berlin', client, trust: operator.trust, renewToken: async () => undefined }
  return new FleetMember({
    store: { read: async () => state, update: async (change) => (state = change(state)) },
    connect: async () => link,
    applyDocument: async () => undefined,
    settle: async () => undefined,
    readStatus: () => undefined,
    enqueue: (task) => enqueued.push(task),
    now: () => now,
    log: () => undefined,
  })
}

function offer(spec: ManagedClusterSpec): void {
  plane.change(path, { spec })
}

function readReport(): unknown {
  return plane.get(path)?.['status']
}

test('an accepted document is applied, a refused one is only reported', async () => {
  const member = await startMember()
  offer(operator.offer(2, 'new'))
  await member.run('pull')
  expect(enqueued).toEqual(['apply', 'report'])
  enqueued.length = 0
  offer(operator.offer(1, 'old'))
  await member.run('pull')
  expect(state.failed?.code).toBe('FLEET_DOCUMENT_STALE')
  // To apply again would check all objects of all addons, as often as the management plane offers something.
  expect(enqueued).toEqual(['report'])
})

test('a status that another writer changes is written again, but not in a loop', async () => {
  const member = await startMember()
  await member.run('report')
  expect(readReport()).toMatchObject({ heartbeat: '2026-11-18T08:00:00.000Z' })
  const foreign = { status: { heartbeat: '2026-11-18T07:00:00.000Z' } }
  plane.change(path, foreign)
  now = new Date(now.getTime() + 1000)
  const result = await member.run('report')
  expect(readReport()).toMatchObject({ heartbeat: '2026-11-18T07:00:00.000Z' })
  now = new Date(now.getTime() + (result?.requeueAfter ?? 0))
  expect(result?.requeueAfter).toBeLessThan(30_000)
  await member.run('report')
  expect(readReport()).toMatchObject({ heartbeat: now.toISOString() })
})

test('a clock that was set back does not stop the heartbeats', async () => {
  const member = await startMember()
  await member.run('report')
  now = new Date(now.getTime() - 86_400_000)
  await member.run('report')
  expect(readReport()).toMatchObject({ heartbeat: '2026-11-17T08:00:00.000Z' })
})

test('a change of the own state is reported at once', async () => {
  const member = await startMember()
  await member.run('report')
  offer(operator.offer(2, 'new'))
  await member.run('pull')
  await member.run('report')
  expect(readReport()).toMatchObject({ accepted: { generation: 2 } })
})
