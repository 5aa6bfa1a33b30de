import { beforeAll, describe, expect, test } from 'vitest'
import { createUntypedKind } from './object.ts'
import { objectExists, findObject, getObject, listObjects } from './read-objects.ts'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'
import type { ReceivedRequest, TestResponse } from '../kit/testing/https-test-server.ts'
import {
  applyObject,
  createObject,
  evictPod,
  applyStatus,
  deleteKubeObject,
  replaceObject,
} from './write-objects.ts'

let ca: TestCa
const { serve, serveResponses, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const configMaps = createUntypedKind('v1', 'ConfigMap')
const manifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default' },
  data: { word: 'here' },
}
const response: TestResponse = {
  json: { ...manifest, metadata: { ...manifest.metadata, resourceVersion: '7' } },
}
const ref = { namespace: 'default', name: 'a' }
const object = '/api/v1/namespaces/default/configmaps/a'

function line({ method, path, query, contentType }: ReceivedRequest): string {
  return [method, `${path}?${query.toString()}`, contentType].filter((part) => part !== undefined).join(' ')
}

test('each helper sends its request with the right method, query and content type', async () => {
  const server = await serveResponses(response)
  const client = createClient([server.url])
  expect(await getObject(client, configMaps, ref)).toMatchObject({ metadata: { resourceVersion: '7' } })
  await createObject(client, manifest)
  await applyObject(client, manifest, { force: true })
  await applyObject(client, manifest, { dryRun: true })
  await applyStatus(client, manifest)
  await replaceObject(client, manifest)
  await deleteKubeObject(client, configMaps, ref, {
    propagation: 'Foreground',
    uid: 'u',
    resourceVersion: '7',
  })
  const common = 'fieldManager=hyperkube&fieldValidation=Strict'
  expect(server.requests.map(line)).toEqual([
    `GET ${object}?`,
    `POST /api/v1/namespaces/default/configmaps?${common} application/json`,
    `PATCH ${object}?${common}&force=true application/apply-patch+yaml`,
    `PATCH ${object}?${common}&force=false&dryRun=All application/apply-patch+yaml`,
    `PATCH ${object}/status?${common}&force=false application/apply-patch+yaml`,
    `PUT ${object}?${common} application/json`,
    `DELETE ${object}? application/json`,
  ])
  expect(server.requests.at(-1)?.body).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Foreground',
    preconditions: { uid: 'u', resourceVersion: '7' },
  })
})

test('a missing object is an error only for getObject', async () => {
  const server = await serveResponses({ status: 404, json: { kind: 'Status', reason: 'NotFound' } })
  const client = createClient([server.url])
  expect(await findObject(client, configMaps, ref)).toBeUndefined()
  expect(await objectExists(client, configMaps, ref)).toBe(false)
  expect(await deleteKubeObject(client, configMaps, ref)).toBe(false)
  await expect(getObject(client, configMaps, ref)).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' })
})

test('a pod is evicted with its uid as precondition, and deleted with a grace period of 0', async () => {
  const server = await serveResponses({ status: 201, json: { kind: 'Status', status: 'Success' } })
  const client = createClient([server.url])
  expect(await evictPod(client, ref, { uid: 'u' })).toBe(true)
  expect(
    await deleteKubeObject(client, createUntypedKind('v1', 'Pod'), ref, { uid: 'u', graceSeconds: 0 }),
  ).toBe(true)
  const pod = '/api/v1/namespaces/default/pods/a'
  expect(server.requests.map(line)).toEqual([
    `POST ${pod}/eviction? application/json`,
    `DELETE ${pod}? application/json`,
  ])
  expect(server.requests.map(({ body }) => body)).toEqual([
    {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: ref,
      deleteOptions: { preconditions: { uid: 'u' } },
    },
    expect.objectContaining({ preconditions: { uid: 'u' }, gracePeriodSeconds: 0 }),
  ])
})

test('an eviction that a disruption budget forbids fails with the cause, without a retry', async () => {
  const cause = {
    reason: 'DisruptionBudget',
    message: 'The disruption budget web needs 2 healthy pods and has 2',
  }
  const server = await serveResponses({
    status: 429,
    json: {
      kind: 'Status',
      reason: 'TooManyRequests',
      message: 'Cannot evict pod',
      details: { causes: [cause] },
    },
  })
  await expect(evictPod(createClient([server.url]), ref)).rejects.toMatchObject({
    code: 'KUBE_TOO_MANY',
    causes: [cause],
  })
  expect(server.requests).toHaveLength(1)
})

test('the eviction of a missing pod returns false', async () => {
  const server = await serveResponses({ status: 404, json: { kind: 'Status', reason: 'NotFound' } })
  expect(await evictPod(createClient([server.url]), ref)).toBe(false)
})

test('a conflict is reported as KUBE_CONFLICT', async () => {
  const server = await serveResponses({ status: 409, json: { kind: 'Status', reason: 'AlreadyExists' } })
  await expect(createObject(createClient([server.url]), manifest)).rejects.toMatchObject({
    code: 'KUBE_CONFLICT',
    reason: 'AlreadyExists',
  })
  expect(server.requests).toHaveLength(1)
})

test.each([
  ['', 'empty'],
  ['..', 'parent directory'],
  ['a/status', 'path'],
])('no request is sent for an object named %j (%s)', async (name) => {
  const server = await serveResponses(response)
  const client = createClient([server.url])
  await expect(deleteKubeObject(client, configMaps, { namespace: 'default', name })).rejects.toMatchObject({
    code: 'KUBE_INVALID',
  })
  await expect(deleteKubeObject(client, configMaps, { namespace: name, name: 'a' })).rejects.toThrow(
    'not a valid object name',
  )
  await expect(getObject(client, configMaps, { name: 'a' })).rejects.toThrow('no namespace is given')
  await expect(getObject(client, createUntypedKind('v1', 'Node'), { ...ref })).rejects.toThrow(
    'are not namespaced',
  )
  expect(server.requests).toHaveLength(0)
})

test('a response that does not match the schema is refused', async () => {
  const server = await serveResponses({ json: { kind: 'ConfigMap' } })
  await expect(getObject(createClient([server.url]), configMaps, ref)).rejects.toMatchObject({
    code: 'KUBE_INVALID_RESPONSE',
  })
})

describe('a list', () => {
  const all = Array.from({ length: 7 }, (_, index) => ({ metadata: { name: `c${index}` } }))

  /** Returns one page of a list, with a continue token if more pages follow. */
  function page({ query }: ReceivedRequest): TestResponse {
    const from = Number(query.get('continue') ?? 0)
    const limit = Number(query.get('limit') ?? all.length)
    const rest = from + limit < all.length ? { continue: String(from + limit) } : {}
    return { json: { metadata: { resourceVersion: '9', ...rest }, items: all.slice(from, from + limit) } }
  }

  test('is fetched page by page, and its items get the kind of the list', async () => {
    const server = await serve(page)
    const found = await listObjects(createClient([server.url]), configMaps, {
      namespace: 'default',
      limit: 3,
      labels: 'a=b',
    })
    expect(found.items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      all.map(({ metadata }) => `ConfigMap ${metadata.name}`),
    )
    expect(found.resourceVersion).toBe('9')
    expect(server.requests.map(({ query }) => query.toString())).toEqual([
      'labelSelector=a%3Db&limit=3',
      'labelSelector=a%3Db&limit=3&continue=3',
      'labelSelector=a%3Db&limit=3&continue=6',
    ])
  })

  test('whose continue token has expired is fetched again without a limit', async () => {
    const server = await serve((request) =>
      request.query.has('continue')
        ? { status: 410, json: { kind: 'Status', reason: 'Expired' } }
        : page(request),
    )
    const { items } = await listObjects(createClient([server.url]), configMaps, { limit: 3 })
    expect(items).toHaveLength(7)
    expect(server.requests.map(({ query }) => query.get('limit'))).toEqual(['3', '3', null])
  })

  test('with the items null is empty', async () => {
    const server = await serveResponses({ json: { metadata: { resourceVersion: '1' }, items: null } })
    expect((await listObjects(createClient([server.url]), configMaps)).items).toEqual([])
  })
})

describe('unknown kinds', () => {
  const widgets = createUntypedKind('example.org/v1', 'Widget')
  const resources = [
    { name: 'widgets', kind: 'Widget', namespaced: true },
    { name: 'widgets/status', kind: 'Widget', namespaced: true },
  ]

  test('are discovered once', async () => {
    const server = await serve(({ path }) =>
      path === '/apis/example.org/v1' ? { json: { kind: 'APIResourceList', resources } } : response,
    )
    const client = createClient([server.url])
    await getObject(client, widgets, ref)
    await getObject(client, widgets, ref)
    const path = '/apis/example.org/v1/namespaces/default/widgets/a'
    expect(server.requests.map((request) => request.path)).toEqual(['/apis/example.org/v1', path, path])
  })

  test('are discovered again while they are missing', async () => {
    let there = false
    const server = await serve(({ path }) => {
      if (path !== '/apis/example.org/v1') return response
      return there ? { json: { resources } } : { status: 404, text: '404 page not found' }
    })
    const client = createClient([server.url])
    await expect(getObject(client, widgets, ref)).rejects.toMatchObject({ code: 'KUBE_KIND_UNKNOWN' })
    there = true
    expect(await getObject(client, widgets, ref)).toBeDefined()
  })

  test('may exist in other versions of their group, which discovery lists', async () => {
    const versions = [{ groupVersion: 'example.org/v2' }, { groupVersion: 'example.org/v1' }]
    const server = await serve(({ path }) =>
      path === '/apis/example.org' ? { json: { versions } } : { status: 404, text: '404 page not found' },
    )
    const { discovery } = createClient([server.url])
    expect(await discovery.versions('example.org')).toEqual(['example.org/v2', 'example.org/v1'])
    expect(await discovery.versions('example.com')).toEqual([])
    expect(await discovery.versions('')).toEqual(['v1'])
  })
})
