import { expect, test } from 'vitest'
import { compareInventories } from './compare-inventories.ts'
import { computeObjectDigest, type ApiInventory, listWriters, type ResourceInventory } from './inventory.ts'

function buildResource(
  objects: Readonly<Record<string, string>>,
  more: Partial<ResourceInventory> = {},
): ResourceInventory {
  const records = Object.entries(objects).map(
    ([key, digest]) => [key, { digest, writers: new Map([['apps/v1', 'kubectl apply']]) }] as const,
  )
  return { apiVersion: 'apps/v1', objects: new Map(records), ...more }
}

function buildInventory(
  resources: Readonly<Record<string, ResourceInventory>>,
  apiVersions: readonly string[] = ['v1', 'apps/v1'],
): ApiInventory {
  return { apiVersions: new Set(apiVersions), resources: new Map(Object.entries(resources)) }
}

const compare = (before: ApiInventory, after: ApiInventory) => compareInventories(before, after, '1.37.1')
const listCodes = (before: ApiInventory, after: ApiInventory): string[] =>
  compare(before, after).findings.map(({ code }) => code)

test('equal inventories have no findings and no changes', () => {
  const inventory = buildInventory({ 'deployments.apps': buildResource({ 'shop/web': 'a' }) })
  expect(compare(inventory, inventory)).toEqual({ findings: [], changes: [] })
})

test('added and changed objects are counted, without a finding', () => {
  const before = buildInventory({ clusterroles: buildResource({ view: 'a', edit: 'b' }) })
  const after = buildInventory({ clusterroles: buildResource({ view: 'a', edit: 'c', audit: 'd' }) })
  expect(compare(before, after)).toEqual({
    findings: [],
    changes: [{ resource: 'clusterroles', added: 1, changed: 1 }],
  })
})

test('objects that were listed in another API version are not compared by content', () => {
  const before = buildInventory({ widgets: buildResource({ one: 'a' }) })
  const after = buildInventory({ widgets: buildResource({ one: 'b' }, { apiVersion: 'apps/v2' }) })
  expect(compare(before, after)).toEqual({ findings: [], changes: [] })
})

test('a removed resource is an error only if objects are stored', () => {
  const stored = buildInventory({ widgets: buildResource({ 'shop/one': 'a' }) })
  expect(listCodes(stored, buildInventory({}))).toEqual(['UPGRADE_API_REMOVED'])
  expect(listCodes(buildInventory({ widgets: buildResource({}) }), buildInventory({}))).toEqual([])
})

test('a removed API version is an error if a client wrote a stored object with it', () => {
  const before = buildInventory({ widgets: buildResource({ 'shop/one': 'a' }) })
  const after = buildInventory({ widgets: buildResource({ 'shop/one': 'a' }) }, ['v1'])
  expect(compare(before, after).findings).toMatchObject([
    {
      code: 'UPGRADE_API_REMOVED',
      message: 'Kubernetes 1.37.1 does not serve apps/v1, with which kubectl apply wrote widgets shop/one',
    },
  ])
})

test('lost and unreadable objects are errors; objects that were unreadable before are a warning', () => {
  const before = buildInventory({ widgets: buildResource({ 'shop/one': 'a' }) })
  expect(listCodes(before, buildInventory({ widgets: buildResource({}) }))).toEqual([
    'REHEARSAL_OBJECTS_LOST',
  ])
  const unreadable = buildInventory({ widgets: buildResource({}, { error: 'no conversion' }) })
  expect(listCodes(before, unreadable)).toEqual(['REHEARSAL_UNREADABLE'])
  expect(compare(unreadable, unreadable).findings).toMatchObject([
    { code: 'REHEARSAL_NOT_COMPARED', severity: 'warning' },
  ])
})

test('the digest of an object ignores its status and its revision', () => {
  const metadata = { name: 'web', resourceVersion: '7', generation: 2, managedFields: [] }
  const object = { metadata, spec: { replicas: 2 }, status: { ready: 1 } }
  const same = { spec: { replicas: 2 }, metadata: { name: 'web', resourceVersion: '9' } }
  expect(computeObjectDigest(object)).toBe(computeObjectDigest(same))
  expect(computeObjectDigest(object)).not.toBe(computeObjectDigest({ ...object, spec: { replicas: 3 } }))
})

test('writers come from managed fields and from the manifest of kubectl apply', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const writersOf = (applied: string): unknown =>
    Object.fromEntries(
      listWriters({
        metadata: {
          name: 'web',
          managedFields: [{ apiVersion: 'apps/v1', manager: 'helm' }, {}],
          annotations: { [annotation]: applied },
        },
      }),
    )
  expect(writersOf('{"apiVersion":"apps/v1beta1"}')).toEqual({
    'apps/v1': 'helm',
    'apps/v1beta1': 'kubectl apply',
  })
  expect(writersOf('{"apiVersion":')).toEqual({ 'apps/v1': 'helm' })
  expect(writersOf('7')).toEqual({ 'apps/v1': 'helm' })
})
