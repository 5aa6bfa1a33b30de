import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildTestDocument } from '../../src/fleet/testing/documents.ts'
import { signDocument } from '../../src/fleet/desired-document.ts'
import type { RolloutStatus } from '../../src/fleet/rollout-resource.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { formatPublicKey } from '../../src/kit/signature.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { createUntypedKind, type Manifest } from '../../src/kube/object.ts'
import { findObject, getObject, listObjects } from '../../src/kube/read-objects.ts'
import { applyObject, applyStatus, patchObject } from '../../src/kube/write-objects.ts'
import { requestMemberToken } from '../../src/manager/fleet/member-access.ts'
import { joinCluster, registerCluster } from '../../src/manager/fleet/management.ts'
import { clusterSetKind, managedClusterKind, rolloutKind } from '../../src/manager/fleet/resources.ts'
import { ManagedCluster } from '../support/fleet-controller/managed-cluster.ts'
import {
  type AdminAccess,
  installPlane,
  openAdmin,
  PlaneManager,
} from '../support/fleet-controller/management-plane.ts'
import { type LocalControlPlane, startLocalControlPlane } from '../support/local-control-plane.ts'

const [etcd, kubernetes] = ['v3.7.3', 'v1.37.1'] as const
const names = ['berlin', 'bonn', 'boston', 'lima', 'oslo', 'paris', 'perth', 'rome'] as const
const group = 'fleet.hyperkube.dev/v1'

const stack = new AsyncDisposableStack()
let local: LocalControlPlane
let admin: AdminAccess
let client: KubeClient
let manager: PlaneManager
const clusters = new Map(names.map((name) => [name, new ManagedCluster(name)]))
const all = [...clusters.values()]

function find(name: (typeof names)[number]): ManagedCluster {
  const cluster = clusters.get(name)
  if (cluster === undefined) throw new Error(`there is no cluster ${name}`)
  return cluster
}

beforeAll(async () => {
  local = stack.use(await startLocalControlPlane(etcd))
  await local.serve(kubernetes, [])
  const stop = new AbortController()
  admin = await openAdmin(local, stop.signal)
  client = admin.client
  stack.defer(() => stop.abort())
  await installPlane(client)
  manager = stack.use(new PlaneManager(admin.kubeconfig))
  for (const cluster of all) {
    await registerCluster(client, cluster.name, { kind: 'simulated' })
    stack.use(cluster)
    await cluster.start(client, admin)
  }
  await applyObject(client, {
    ...{ apiVersion: group, kind: 'ClusterSet', metadata: { name: 'simulated' } },
    spec: { selector: { kind: 'simulated' } },
  })
}, 600_000)
afterAll(async () => {
  if (process.env['FLEET_LOG'] !== undefined) process.stderr.write(`${manager.lines.join('\n')}\n`)
  await stack.disposeAsync()
}, 120_000)

function buildRollout(name: string, spec: object): Manifest {
  return {
    ...{ apiVersion: group, kind: 'Rollout', metadata: { name } },
    spec: { clusterSet: 'simulated', waves: [1, 4, '100%'], settleSeconds: 0, ...spec },
  }
}

async function waitForRollout(
  name: string,
  isReached: (status: RolloutStatus) => boolean,
): Promise<RolloutStatus> {
  return pollUntil(
    `rollout ${name}`,
    async () => {
      const { status } = await getObject(client, rolloutKind, { name })
      return status !== undefined && isReached(status) && status
    },
    { timeoutMs: 60_000 },
  )
}

async function publishAll(generation: number): Promise<void> {
  for (const cluster of all) await cluster.publish(client, generation)
}

function listApplied(generation: number): string[] {
  return all.filter(({ applied }) => applied.at(-1) === generation).map(({ name }) => name)
}

test('all clusters report, and the set counts them', async () => {
  const readCounts = async () => (await getObject(client, clusterSetKind, { name: 'simulated' })).status
  await pollUntil('all reports', async () => (await readCounts())?.healthy === all.length, {
    timeoutMs: 60_000,
  })
  expect(await readCounts()).toMatchObject({ clusters: all.length, unknown: 0 })
})

test('a managed cluster cannot read or write another Cluster object, nor its own document', async () => {
  const { token } = await requestMemberToken(client, 'berlin')
  using own = new KubeClient({
    ...{ servers: admin.servers, ca: admin.ca, credentials: { token } },
    signal: new AbortController().signal,
  })
  expect((await getObject(own, managedClusterKind, { name: 'berlin' })).metadata.name).toBe('berlin')
  const denied = { code: 'KUBE_FORBIDDEN' }
  const permitted = { generation: 9, rollout: 'x' }
  const status = { apiVersion: group, kind: 'Cluster', metadata: { name: 'bonn' }, status: { events: [] } }
  await expect(getObject(own, managedClusterKind, { name: 'bonn' })).rejects.toMatchObject(denied)
  await expect(listObjects(own, managedClusterKind)).rejects.toMatchObject(denied)
  await expect(applyStatus(own, status)).rejects.toMatchObject(denied)
  await expect(
    patchObject(own, managedClusterKind, { name: 'berlin' }, { spec: { permitted } }),
  ).rejects.toMatchObject(denied)
  await expect(requestMemberToken(own, 'bonn')).rejects.toMatchObject(denied)
  await expect(listObjects(own, createUntypedKind('v1', 'Secret'))).rejects.toMatchObject(denied)
  expect((await requestMemberToken(own, 'berlin')).token).not.toBe('')
})

test('a document is not applied without permission of a rollout', async () => {
  await publishAll(10)
  await pollUntil(
    'the documents to be read',
    async () =>
      (await getObject(client, managedClusterKind, { name: 'rome' })).spec.desired?.generation === 10,
    { timeoutMs: 10_000 },
  )
  expect(listApplied(10)).toEqual([])
})

test('each wave waits for its Approval', async () => {
  await applyObject(client, buildRollout('ten', { approval: 'each-wave', waves: [1, '100%'] }))
  const waiting = await waitForRollout('ten', ({ state }) => state === 'waiting')
  expect(waiting.message).toBe('wave 1 of 2 needs an Approval')
  for (const wave of [1, 2]) {
    const expected = wave === 1 ? [] : ['berlin']
    expect(listApplied(10)).toEqual(expected)
    await applyObject(client, {
      ...{ apiVersion: group, kind: 'Approval', metadata: { name: `ten-${wave}` } },
      spec: { rollout: 'ten', wave, by: 'anna' },
    })
    await waitForRollout('ten', ({ state, message }) =>
      wave === 1 ? message === 'wave 2 of 2 needs an Approval' : state === 'done',
    )
  }
  expect(listApplied(10)).toEqual([...names])
})

test('a failure in wave 2 stops the rollout, which continues after the fix', async () => {
  await publishAll(20)
  find('boston').plantedFailure = new HyperkubeError('ADDON_NOT_READY', 'planted failure')
  await applyObject(client, buildRollout('twenty', {}))
  const stopped = await waitForRollout('twenty', ({ state }) => state === 'stopped')
  expect(stopped.message).toBe('boston: ADDON_NOT_READY: planted failure')
  expect(stopped.clusters['boston']).toMatchObject({ state: 'failed', generation: 20 })
  expect(stopped.clusters['oslo']?.state).toBe('pending')
  // Wave 1 is berlin, wave 2 is bonn, boston and lima. No cluster of wave 3 was permitted.
  expect(listApplied(20)).toEqual(['berlin', 'bonn', 'lima'])
  for (const name of ['oslo', 'paris', 'perth', 'rome'])
    expect((await getObject(client, managedClusterKind, { name })).spec.permitted?.generation).toBe(10)
  find('boston').plantedFailure = undefined
  await find('boston').publish(client, 21)
  await patchObject(client, rolloutKind, { name: 'twenty' }, { spec: { attempt: 2 } })
  const done = await waitForRollout('twenty', ({ state }) => state === 'done')
  expect(done.clusters['boston']).toMatchObject({ state: 'done', generation: 21 })
  expect(find('boston').applied.at(-1)).toBe(21)
})

test('a cluster that becomes unhealthy stops the rollout at the gate', async () => {
  await publishAll(30)
  const berlin = find('berlin')
  // The cluster reports that it is degraded as soon as it has accepted the document.
  const watchState = pollUntil('berlin to accept', async () => berlin.state.accepted?.generation === 30, {
    timeoutMs: 60_000,
    intervalMs: 1,
  }).then(() => (berlin.health = 'degraded'))
  await applyObject(client, buildRollout('thirty', { settleSeconds: 2 }))
  await watchState
  const stopped = await waitForRollout('thirty', ({ state }) => state === 'stopped')
  expect(stopped.clusters['berlin']).toMatchObject({
    state: 'degraded',
    before: 'healthy',
    after: 'degraded',
  })
  expect(listApplied(30)).toEqual(['berlin'])
  berlin.health = 'healthy'
})

test('a replayed document is refused', async () => {
  const { spec } = await getObject(client, managedClusterKind, { name: 'bonn' })
  const bonn = find('bonn')
  await bonn.publish(client, 5)
  await patchObject(
    client,
    managedClusterKind,
    { name: 'bonn' },
    { spec: { permitted: { generation: 5, rollout: 'x' } } },
  )
  await pollUntil(
    'the refusal',
    async () =>
      (await getObject(client, managedClusterKind, { name: 'bonn' })).status.failed?.code ===
      'FLEET_DOCUMENT_STALE',
    { timeoutMs: 10_000 },
  )
  expect(bonn.applied).not.toContain(5)
  await patchObject(client, managedClusterKind, { name: 'bonn' }, { spec })
  await pollUntil(
    'the refusal to be cleared',
    async () => (await getObject(client, managedClusterKind, { name: 'bonn' })).status.failed === undefined,
    { timeoutMs: 10_000 },
  )
})

test('after a loss of the management plane and an older snapshot, nothing older is applied and all report again', async () => {
  await publishAll(40)
  const snapshot = await local.saveSnapshot()
  await applyObject(client, buildRollout('forty', {}))
  await waitForRollout('forty', ({ state }) => state === 'done')
  await publishAll(50)
  await applyObject(client, buildRollout('fifty', {}))
  await waitForRollout('fifty', ({ state }) => state === 'done')
  const before = all.map(({ applied }) => [...applied])
  await local.stopServing()
  // Without the management plane a cluster keeps its document.
  expect(all.map(({ state }) => state.accepted?.generation)).toEqual(names.map(() => 50))
  await local.restoreSnapshot(snapshot)
  await local.serve(kubernetes, [])
  // The snapshot offers document 40 to all clusters. A new rollout permits it.
  expect(await findObject(client, rolloutKind, { name: 'forty' })).toBeUndefined()
  await applyObject(client, buildRollout('again', { maxFailed: all.length }))
  await waitForRollout('again', ({ state }) => state === 'done')
  const { items } = await listObjects(client, managedClusterKind)
  const simulated = items.filter(({ metadata }) => names.some((name) => name === metadata.name))
  expect(simulated).toHaveLength(all.length)
  for (const { spec, status } of simulated) {
    expect(spec).toMatchObject({ desired: { generation: 40 }, permitted: { generation: 40 } })
    expect(status).toMatchObject({
      accepted: { generation: 50 },
      applied: { generation: 50 },
      failed: { generation: 40, code: 'FLEET_DOCUMENT_STALE' },
      cluster: { state: 'healthy' },
    })
  }
  expect(all.map(({ applied }) => applied)).toEqual(before)
  // A newer document is accepted, and the fleet continues.
  await publishAll(60)
  await applyObject(client, buildRollout('sixty', {}))
  await waitForRollout('sixty', ({ state }) => state === 'done')
  expect(listApplied(60)).toEqual([...names])
})

test('the controller of a real cluster pulls and applies the addons of its document', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const cluster = '0b0e7c0e-5a0e-4c55-8f0e-6a1d6a0e7c11'
  await applyObject(client, {
    ...{ apiVersion: group, kind: 'ClusterSet', metadata: { name: 'real' } },
    spec: { selector: { name: 'self' } },
  })
  const endpoint = { servers: admin.servers.join(','), ca: admin.ca }
  const join = { name: 'self', labels: { kind: 'real' }, cluster, publicKey: formatPublicKey(publicKey) }
  // The management plane manages itself here, so both clients are the same.
  await joinCluster({ client, endpoint, [Symbol.dispose]: () => undefined }, client, join)
  const publish = async (generation: number, word: string): Promise<void> => {
    const desired = { generation, ...signDocument(buildTestDocument(cluster, generation, word), privateKey) }
    await patchObject(client, managedClusterKind, { name: 'self' }, { spec: { desired } })
  }
  const configMaps = createUntypedKind('v1', 'ConfigMap')
  const readWord = async (): Promise<unknown> =>
    (await findObject(client, configMaps, { namespace: 'default', name: 'hello' }))?.['data']
  await publish(1, 'first')
  await applyObject(
    client,
    buildRollout('real-1', { clusterSet: 'real', waves: ['100%'], timeoutSeconds: 120 }),
  )
  await pollUntil(
    'the rollout',
    async () => (await getObject(client, rolloutKind, { name: 'real-1' })).status?.state === 'done',
    { timeoutMs: 180_000 },
  )
  expect(await readWord()).toEqual({ word: 'first' })
  const { status } = await getObject(client, managedClusterKind, { name: 'self' })
  expect(status.events?.map(({ type }) => type)).toEqual(['applied', 'accepted'])
  expect(status.cluster?.state).toBe('healthy')
})
