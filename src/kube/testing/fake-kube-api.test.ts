import { beforeAll, describe, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import { createUntypedKind } from '../object.ts'
import { findObject, listObjects } from '../read-objects.ts'
import { createKubeTestBench } from './kube-test-bench.ts'
import { FakeKubeApi } from './fake-kube-api.ts'
import { testObjectContract } from './object-contract.ts'
import { Watch } from '../watch.ts'
import {
  applyObject,
  createObject,
  patchObject,
  applyStatus,
  deleteKubeObject,
  replaceObject,
} from '../write-objects.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})
const { serve, createClient } = createKubeTestBench(() => ca)

const kind = createUntypedKind('v1', 'Node')
const ref = { name: 'a' }
const manifest = { apiVersion: 'v1', kind: 'Node', metadata: ref, spec: { x: 1 } }

describe('objects', () => {
  testObjectContract(async () => {
    const { respond } = new FakeKubeApi({ namespaces: ['default'] })
    return createClient([(await serve(respond)).url])
  })
})

test('a write with an old resourceVersion conflicts, and an unchanged patch keeps the resourceVersion', async () => {
  const client = createClient([(await serve(new FakeKubeApi().respond)).url])
  const first = await createObject(client, manifest)
  await expect(createObject(client, manifest)).rejects.toMatchObject({
    code: 'KUBE_CONFLICT',
    reason: 'AlreadyExists',
  })
  const second = await patchObject(client, kind, ref, { spec: { y: 2 } })
  expect(second).toMatchObject({ spec: { x: 1, y: 2 } })
  await expect(replaceObject(client, first)).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
  await expect(
    patchObject(client, kind, ref, { metadata: { resourceVersion: first.metadata.resourceVersion } }),
  ).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
  // A patch that changes nothing does not create a new resourceVersion.
  expect((await patchObject(client, kind, ref, { spec: { y: 2 } })).metadata.resourceVersion).toBe(
    second.metadata.resourceVersion,
  )
  expect(await deleteKubeObject(client, kind, ref)).toBe(true)
  expect(await findObject(client, kind, ref)).toBeUndefined()
})

test('the status is a subresource, and conditions belong to the manager that applied them', async () => {
  const client = createClient([(await serve(new FakeKubeApi().respond)).url])
  await expect(applyStatus(client, { ...manifest, status: {} })).rejects.toMatchObject({
    code: 'KUBE_NOT_FOUND',
  })
  await applyObject(client, { ...manifest, status: { z: 1 } })
  expect(await findObject(client, kind, ref)).not.toHaveProperty('status')
  const applyConditions = async (manager: string, ...types: string[]): Promise<unknown> =>
    applyStatus(client, { ...manifest, status: { conditions: types.map((type) => ({ type })) } }, { manager })
  await applyConditions('one', 'A', 'B')
  await applyConditions('other', 'C')
  expect(await applyConditions('one', 'B')).toMatchObject({
    status: { conditions: [{ type: 'C' }, { type: 'B' }] },
  })
  expect(await findObject(client, kind, ref)).toMatchObject({ spec: { x: 1 } })
})

test('a watch by name misses nothing between list and watch, and reports no other object', async () => {
  const objects = new FakeKubeApi()
  const client = createClient([(await serve(objects.respond)).url])
  objects.put('/api/v1/nodes/a', manifest)
  objects.put('/api/v1/nodes/b', { ...manifest, metadata: { name: 'b' } })
  expect((await listObjects(client, kind, { fields: 'metadata.name=b' })).items).toHaveLength(1)
  const watch = new Watch(client, kind, { fields: 'metadata.name=a', select: ({ metadata }) => metadata })
  const stop = new AbortController()
  const changes: string[] = []
  for await (const change of watch.changes(stop.signal)) {
    changes.push(change.type)
    if (change.type === 'listed') {
      objects.change('/api/v1/nodes/b', { spec: { x: 2 } })
      objects.change('/api/v1/nodes/a', { spec: { x: 2 } })
      objects.remove('/api/v1/nodes/a')
    }
    if (change.type === 'deleted') stop.abort()
  }
  expect(changes).toEqual(['added', 'listed', 'modified', 'deleted'])
})
