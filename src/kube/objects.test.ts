import { beforeAll, describe, expect, test } from 'vitest'
import { kindOf } from './object.ts'
import { exists, find, get, list } from './read-objects.ts'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { testBench } from './testing/kube-test-bench.ts'
import type { Asked, TestAnswer } from '../kit/testing/https-test-server.ts'
import { apply, create, evict, patchStatus, remove, replace } from './write-objects.ts'

let authority: TestAuthority
const { serve, serverOf, clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const configMaps = kindOf('v1', 'ConfigMap')
const manifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default' },
  data: { word: 'here' },
}
const answer: TestAnswer = { json: { ...manifest, metadata: { ...manifest.metadata, resourceVersion: '7' } } }
const place = { namespace: 'default', name: 'a' }
const object = '/api/v1/namespaces/default/configmaps/a'

function line({ method, path, query, contentType }: Asked): string {
  return [method, `${path}?${query.toString()}`, contentType].filter((part) => part !== undefined).join(' ')
}

test('each helper asks for what it says', async () => {
  const server = await serverOf(answer)
  const client = clientOf([server.url])
  expect(await get(client, configMaps, place)).toMatchObject({ metadata: { resourceVersion: '7' } })
  await create(client, manifest)
  await apply(client, manifest, { force: true })
  await apply(client, manifest, { dryRun: true })
  await patchStatus(client, manifest)
  await replace(client, manifest)
  await remove(client, configMaps, place, { propagation: 'Foreground', uid: 'u', resourceVersion: '7' })
  const common = 'fieldManager=hyperkube&fieldValidation=Strict'
  expect(server.asked.map(line)).toEqual([
    `GET ${object}?`,
    `POST /api/v1/namespaces/default/configmaps?${common} application/json`,
    `PATCH ${object}?${common}&force=true application/apply-patch+yaml`,
    `PATCH ${object}?${common}&force=false&dryRun=All application/apply-patch+yaml`,
    `PATCH ${object}/status?${common}&force=false application/apply-patch+yaml`,
    `PUT ${object}?${common} application/json`,
    `DELETE ${object}? application/json`,
  ])
  expect(server.asked.at(-1)?.body).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Foreground',
    preconditions: { uid: 'u', resourceVersion: '7' },
  })
})

test('what is not there is no failure for those who ask whether it is', async () => {
  const server = await serverOf({ status: 404, json: { kind: 'Status', reason: 'NotFound' } })
  const client = clientOf([server.url])
  expect(await find(client, configMaps, place)).toBeUndefined()
  expect(await exists(client, configMaps, place)).toBe(false)
  expect(await remove(client, configMaps, place)).toBe(false)
  await expect(get(client, configMaps, place)).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' })
})

test('a pod is evicted by its uid, and removed without waiting for its kubelet', async () => {
  const server = await serverOf({ status: 201, json: { kind: 'Status', status: 'Success' } })
  const client = clientOf([server.url])
  expect(await evict(client, place, { uid: 'u' })).toBe(true)
  expect(await remove(client, kindOf('v1', 'Pod'), place, { uid: 'u', grace: 0 })).toBe(true)
  const pod = '/api/v1/namespaces/default/pods/a'
  expect(server.asked.map(line)).toEqual([
    `POST ${pod}/eviction? application/json`,
    `DELETE ${pod}? application/json`,
  ])
  expect(server.asked.map(({ body }) => body)).toEqual([
    {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: place,
      deleteOptions: { preconditions: { uid: 'u' } },
    },
    expect.objectContaining({ preconditions: { uid: 'u' }, gracePeriodSeconds: 0 }),
  ])
})

test('a budget that forbids an eviction is an answer, with what it says, and is not asked twice', async () => {
  const cause = {
    reason: 'DisruptionBudget',
    message: 'The disruption budget web needs 2 healthy pods and has 2',
  }
  const server = await serverOf({
    status: 429,
    json: {
      kind: 'Status',
      reason: 'TooManyRequests',
      message: 'Cannot evict pod',
      details: { causes: [cause] },
    },
  })
  await expect(evict(clientOf([server.url]), place)).rejects.toMatchObject({
    code: 'KUBE_TOO_MANY',
    causes: [cause],
  })
  expect(server.asked).toHaveLength(1)
})

test('a pod that is gone needs no eviction', async () => {
  const server = await serverOf({ status: 404, json: { kind: 'Status', reason: 'NotFound' } })
  expect(await evict(clientOf([server.url]), place)).toBe(false)
})

test('a conflict is told as one', async () => {
  const server = await serverOf({ status: 409, json: { kind: 'Status', reason: 'AlreadyExists' } })
  await expect(create(clientOf([server.url]), manifest)).rejects.toMatchObject({
    code: 'KUBE_CONFLICT',
    reason: 'AlreadyExists',
  })
  expect(server.asked).toHaveLength(1)
})

test.each([
  ['', 'without a name'],
  ['..', 'that leads elsewhere'],
  ['a/status', 'that is a path'],
])('nothing is asked for an object named %j, %s', async (name) => {
  const server = await serverOf(answer)
  const client = clientOf([server.url])
  await expect(remove(client, configMaps, { namespace: 'default', name })).rejects.toMatchObject({
    code: 'KUBE_INVALID',
  })
  await expect(remove(client, configMaps, { namespace: name, name: 'a' })).rejects.toThrow('not the name')
  await expect(get(client, configMaps, { name: 'a' })).rejects.toThrow('none is given')
  await expect(get(client, kindOf('v1', 'Node'), { ...place })).rejects.toThrow('in no namespace')
  expect(server.asked).toHaveLength(0)
})

test('an answer that is something else is not taken', async () => {
  const server = await serverOf({ json: { kind: 'ConfigMap' } })
  await expect(get(clientOf([server.url]), configMaps, place)).rejects.toMatchObject({ code: 'KUBE_ANSWER' })
})

describe('a list', () => {
  const all = Array.from({ length: 7 }, (_, index) => ({ metadata: { name: `c${index}` } }))

  /** As the API does it: so many at a time, with a token for the rest. */
  function page({ query }: Asked): TestAnswer {
    const from = Number(query.get('continue') ?? 0)
    const limit = Number(query.get('limit') ?? all.length)
    const rest = from + limit < all.length ? { continue: String(from + limit) } : {}
    return { json: { metadata: { resourceVersion: '9', ...rest }, items: all.slice(from, from + limit) } }
  }

  test('is fetched page by page, and its items say what they are', async () => {
    const server = await serve(page)
    const found = await list(clientOf([server.url]), configMaps, {
      namespace: 'default',
      limit: 3,
      labels: 'a=b',
    })
    expect(found.items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      all.map(({ metadata }) => `ConfigMap ${metadata.name}`),
    )
    expect(found.resourceVersion).toBe('9')
    expect(server.asked.map(({ query }) => query.toString())).toEqual([
      'labelSelector=a%3Db&limit=3',
      'labelSelector=a%3Db&limit=3&continue=3',
      'labelSelector=a%3Db&limit=3&continue=6',
    ])
  })

  test('whose next page is forgotten is fetched at once', async () => {
    const server = await serve((asked) =>
      asked.query.has('continue')
        ? { status: 410, json: { kind: 'Status', reason: 'Expired' } }
        : page(asked),
    )
    const { items } = await list(clientOf([server.url]), configMaps, { limit: 3 })
    expect(items).toHaveLength(7)
    expect(server.asked.map(({ query }) => query.get('limit'))).toEqual(['3', '3', null])
  })

  test('of nothing has nothing in it', async () => {
    const server = await serverOf({ json: { metadata: { resourceVersion: '1' }, items: null } })
    expect((await list(clientOf([server.url]), configMaps)).items).toEqual([])
  })
})

describe('kinds that we do not know', () => {
  const widgets = kindOf('example.org/v1', 'Widget')
  const resources = [
    { name: 'widgets', kind: 'Widget', namespaced: true },
    { name: 'widgets/status', kind: 'Widget', namespaced: true },
  ]

  test('are asked for once', async () => {
    const server = await serve(({ path }) =>
      path === '/apis/example.org/v1' ? { json: { kind: 'APIResourceList', resources } } : answer,
    )
    const client = clientOf([server.url])
    await get(client, widgets, place)
    await get(client, widgets, place)
    const path = '/apis/example.org/v1/namespaces/default/widgets/a'
    expect(server.asked.map((asked) => asked.path)).toEqual(['/apis/example.org/v1', path, path])
  })

  test('are asked for again as long as they are not there', async () => {
    let there = false
    const server = await serve(({ path }) => {
      if (path !== '/apis/example.org/v1') return answer
      return there ? { json: { resources } } : { status: 404, text: '404 page not found' }
    })
    const client = clientOf([server.url])
    await expect(get(client, widgets, place)).rejects.toMatchObject({ code: 'KUBE_KIND_UNKNOWN' })
    there = true
    expect(await get(client, widgets, place)).toBeDefined()
  })

  test('may be there in other versions of their group', async () => {
    const versions = [{ groupVersion: 'example.org/v2' }, { groupVersion: 'example.org/v1' }]
    const server = await serve(({ path }) =>
      path === '/apis/example.org' ? { json: { versions } } : { status: 404, text: '404 page not found' },
    )
    const { discovery } = clientOf([server.url])
    expect(await discovery.versions('example.org')).toEqual(['example.org/v2', 'example.org/v1'])
    expect(await discovery.versions('example.com')).toEqual([])
    expect(await discovery.versions('')).toEqual(['v1'])
  })
})
