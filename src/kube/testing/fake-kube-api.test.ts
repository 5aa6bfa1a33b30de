import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import { kindOf } from '../object.ts'
import { find, list } from '../read-objects.ts'
import { testBench } from './kube-test-bench.ts'
import { TestObjects } from './fake-kube-api.ts'
import { Watch } from '../watch.ts'
import { apply, create, merge, patchStatus, remove, replace } from '../write-objects.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})
const { serve, clientOf } = testBench(() => authority)

const kind = kindOf('v1', 'Node')
const place = { name: 'a' }
const manifest = { apiVersion: 'v1', kind: 'Node', metadata: place, spec: { x: 1 } }

test('objects have versions, and who has an old one is told so', async () => {
  const client = clientOf([(await serve(new TestObjects().answer)).url])
  const first = await create(client, manifest)
  await expect(create(client, manifest)).rejects.toMatchObject({
    code: 'KUBE_CONFLICT',
    reason: 'AlreadyExists',
  })
  const second = await merge(client, kind, place, { spec: { y: 2 } })
  expect(second).toMatchObject({ spec: { x: 1, y: 2 } })
  await expect(replace(client, first)).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
  await expect(
    merge(client, kind, place, { metadata: { resourceVersion: first.metadata.resourceVersion } }),
  ).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
  // What changes nothing is no new version.
  expect((await merge(client, kind, place, { spec: { y: 2 } })).metadata.resourceVersion).toBe(
    second.metadata.resourceVersion,
  )
  expect(await remove(client, kind, place)).toBe(true)
  expect(await find(client, kind, place)).toBeUndefined()
})

test('the status is apart from the rest, and conditions belong to who applied them', async () => {
  const client = clientOf([(await serve(new TestObjects().answer)).url])
  await expect(patchStatus(client, { ...manifest, status: {} })).rejects.toMatchObject({
    code: 'KUBE_NOT_FOUND',
  })
  await apply(client, { ...manifest, status: { z: 1 } })
  expect(await find(client, kind, place)).not.toHaveProperty('status')
  const said = async (manager: string, ...types: string[]): Promise<unknown> =>
    patchStatus(client, { ...manifest, status: { conditions: types.map((type) => ({ type })) } }, { manager })
  await said('one', 'A', 'B')
  await said('other', 'C')
  expect(await said('one', 'B')).toMatchObject({ status: { conditions: [{ type: 'C' }, { type: 'B' }] } })
  expect(await find(client, kind, place)).toMatchObject({ spec: { x: 1 } })
})

test('a watch by name misses nothing between the list and its beginning, and hears of nobody else', async () => {
  const objects = new TestObjects()
  const client = clientOf([(await serve(objects.answer)).url])
  objects.put('/api/v1/nodes/a', manifest)
  objects.put('/api/v1/nodes/b', { ...manifest, metadata: { name: 'b' } })
  expect((await list(client, kind, { fields: 'metadata.name=b' })).items).toHaveLength(1)
  const watch = new Watch(client, kind, { fields: 'metadata.name=a', select: ({ metadata }) => metadata })
  const stop = new AbortController()
  const told: string[] = []
  for await (const change of watch.changes(stop.signal)) {
    told.push(change.type)
    if (change.type === 'listed') {
      objects.change('/api/v1/nodes/b', { spec: { x: 2 } })
      objects.change('/api/v1/nodes/a', { spec: { x: 2 } })
      objects.remove('/api/v1/nodes/a')
    }
    if (change.type === 'deleted') stop.abort()
  }
  expect(told).toEqual(['added', 'listed', 'modified', 'deleted'])
})
