import { afterAll, beforeAll, expect, test } from 'vitest'
import { pollUntil } from '../../src/kit/poll.ts'
import { customObject, everyKind, type KindObject, nodeObject } from '../support/every-kind.ts'
import { writeEvidenceSection } from '../support/held-upgrade-evidence.ts'
import { type LocalControlPlane, startLocalControlPlane } from '../support/local-control-plane.ts'

// Versions of a held upgrade from 1.36 to 1.37: etcd stays at the version of the old minor.
const [etcd, from, to, minor] = ['v3.6.16', 'v1.36.4', 'v1.37.1', '1.36'] as const

let local: LocalControlPlane
beforeAll(async () => {
  local = await startLocalControlPlane(etcd)
}, 600_000)
afterAll(async () => local[Symbol.asyncDispose](), 120_000)

interface Resource {
  readonly name: string
  readonly verbs: readonly string[]
  readonly namespaced: boolean
}

interface StoredObject {
  readonly metadata: { readonly resourceVersion: string }
}

/** Reads an object or a list. Retries, because a server that still fills its caches throttles requests. */
async function read<T>(path: string): Promise<T> {
  let response = await local.send<T>('GET', path)
  await pollUntil(
    `${path} to be served`,
    async () => {
      if (response.status === 429) response = await local.send<T>('GET', path)
      return response.status !== 429
    },
    { timeoutMs: 60_000 },
  )
  expect(response.status, path).toBe(200)
  return response.body
}

/** Lists what a server serves, as `GROUP/VERSION RESOURCE`. */
async function listServed(): Promise<ReadonlyMap<string, Resource>> {
  const { groups } = await read<{ groups: { versions: { groupVersion: string }[] }[] }>('/apis')
  const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion))
  const lists = await Promise.all(
    ['v1', ...versions].map(async (version) => {
      const path = version === 'v1' ? '/api/v1' : `/apis/${version}`
      const { resources } = await read<{ resources: Resource[] }>(path)
      return resources.map((resource) => [`${version} ${resource.name}`, resource] as const)
    }),
  )
  return new Map(lists.flat())
}

/** Reads all stored objects in all served versions, by path. */
async function readAll(served: ReadonlyMap<string, Resource>): Promise<ReadonlyMap<string, unknown>> {
  const objects = new Map<string, unknown>()
  for (const [id, { name, verbs }] of served) {
    if (!verbs.includes('list') || name.includes('/')) continue
    const [version = ''] = id.split(' ')
    const path = `${version === 'v1' ? '/api/v1' : `/apis/${version}`}/${name}`
    const { items } = await read<{ items: { metadata: { namespace?: string; name: string } }[] }>(path)
    for (const item of items)
      objects.set(`${path} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, item)
  }
  return objects
}

/**
 * True for objects that cannot be compared, because API servers change them all the time or do not store
 * them.
 */
const isVolatile = (path: string): boolean =>
  /componentstatuses| kube-system\/apiserver-| default\/kubernetes/.test(path)

async function create({ collection, body }: KindObject): Promise<void> {
  const { status, body: response } = await local.send('POST', collection, body)
  expect(status, `${collection}: ${JSON.stringify(response)}`).toBe(201)
}

const state: { served?: ReadonlyMap<string, Resource>; objects?: ReadonlyMap<string, unknown> } = {}
let bootstrapped: ReadonlyMap<string, unknown> = new Map()
let comparedCount = 0

test(`${from} runs first`, { timeout: 300_000 }, async () => {
  await local.serve(from, [])
  state.served = await listServed()
  bootstrapped = await readAll(state.served)
  expect(bootstrapped.size).toBeGreaterThan(100)
})

test(`${to} that emulates ${minor} serves what ${from} serves`, { timeout: 300_000 }, async () => {
  await local.serve(to, [`--emulated-version=${minor}`])
  expect(await read('/version')).toMatchObject({
    gitVersion: to,
    emulationMinor: '36',
    minCompatibilityMinor: '35',
  })
  const served = await listServed()
  const added = [...served.keys()].filter((id) => !state.served?.has(id))
  const removed = [...(state.served?.keys() ?? [])].filter((id) => !served.has(id))
  // The new minor also serves a status of CSINode, although the feature gate of this status is off.
  expect({ added, removed }).toEqual({ added: ['storage.k8s.io/v1 csinodes/status'], removed: [] })
})

test('it stores an object of every kind', { timeout: 300_000 }, async () => {
  for (const object of [...everyKind, nodeObject]) await create(object)
  await pollUntil(
    'the custom resource to be served',
    async () => (await local.send('GET', customObject.collection)).status === 200,
    { timeoutMs: 60_000 },
  )
  await create(customObject)
  const served = await listServed()
  const storable = [...served].filter(
    ([, { name, verbs }]) => verbs.includes('create') && verbs.includes('list') && !name.includes('/'),
  )
  const objects = await readAll(served)
  const stored = new Set([...objects.keys()].map((path) => path.split(' ')[0]))
  const without = storable.filter(([id]) => {
    const [version, name] = id.split(' ')
    return !stored.has(`${version === 'v1' ? '/api/v1' : `/apis/${version}`}/${name}`)
  })
  expect(without.map(([id]) => id)).toEqual([])
  state.served = served
  state.objects = objects
})

test('it drops fields that only the new minor has', { timeout: 60_000 }, async () => {
  const pod = everyKind.find(({ body }) => body['kind'] === 'Pod')
  if (pod === undefined) throw new Error('there is no pod')
  const container = {
    name: 'main',
    image: 'x',
    livenessProbe: { httpGet: { path: '/', port: 80, protocol: 'HTTP2' } },
  }
  const body = {
    ...pod.body,
    metadata: { name: 'new-field' },
    spec: { serviceAccountName: 'kinds', containers: [container] },
  }
  const { status, body: created } = await local.send('POST', pod.collection, body)
  expect(status, JSON.stringify(created)).toBe(201)
  expect(JSON.stringify(created)).not.toContain('"protocol":"HTTP2"')
  await local.send('DELETE', `${pod.collection}/new-field`, { gracePeriodSeconds: 0 })
})

/** Drops the empty status that the new minor shows for a CSINode, because the old minor has no such field. */
function dropNewPart(path: string, object: unknown): unknown {
  if (!path.includes('/csinodes ')) return object
  expect(object).toMatchObject({ status: {} })
  return { ...Object(object), status: undefined }
}

test(`${from} reads every object, and all are equal`, { timeout: 300_000 }, async () => {
  await local.serve(from, [])
  const objects = await readAll(await listServed())
  const compared = [...(state.objects ?? [])].filter(([path]) => !isVolatile(path))
  for (const [path, object] of compared) expect(objects.get(path), path).toEqual(dropNewPart(path, object))
  comparedCount = compared.length
})

/**
 * Kinds with a new field that the new minor stores even if the field is empty. The old minor does not know
 * the field, so it would store other bytes.
 */
const kindsWithEmptyParts = ['PersistentVolumeClaim', 'CSINode']

test(`${from} would store the same bytes`, { timeout: 300_000 }, async () => {
  // The API server writes nothing if an updated object has the same bytes as the stored one. So a new
  // resource version means that the bytes differ.
  const rewritten: unknown[] = []
  for (const { collection, body } of [...everyKind, nodeObject, customObject]) {
    const path = `${collection}/${body.metadata.name}`
    const before = await read<StoredObject>(path)
    const { status, body: after } = await local.send<StoredObject>('PUT', path, before)
    expect(status, `${path}: ${JSON.stringify(after)}`).toBe(200)
    const { resourceVersion } = after.metadata
    expect(after, path).toEqual({ ...before, metadata: { ...before.metadata, resourceVersion } })
    if (resourceVersion !== before.metadata.resourceVersion) rewritten.push(body['kind'])
  }
  expect(rewritten).toEqual(kindsWithEmptyParts)
})

test('the new API server leaves only rules of a built-in role behind', { timeout: 60_000 }, async () => {
  const changed = [...bootstrapped]
    .filter(
      ([path, object]) =>
        !isVolatile(path) && JSON.stringify(state.objects?.get(path)) !== JSON.stringify(object),
    )
    .map(([path]) => path)
  expect(changed).toEqual([
    '/apis/rbac.authorization.k8s.io/v1/clusterroles /system:controller:node-controller',
  ])
  const text = `One etcd ${etcd} and one API server on the loopback address, without hosts and controllers. ${from} runs first; then ${to} with \`--emulated-version=${minor}\` stores an object of every kind that it serves, also of a custom resource; then ${from} reads all objects in all versions that it serves. Everything is compared, also resource versions and field managers. At last ${from} updates each object without a change, which writes nothing if it would store the same bytes.`
  await writeEvidenceSection('What the old API server reads', text, [
    ['objects compared', comparedCount],
    ['– different', 'one field: a CSINode has an empty status in the new minor'],
    ['served by the emulating server and not by the old one', 'csinodes/status, whose feature is off'],
    ['served by the old server and not by the emulating one', 'nothing'],
    ['a field of a pod that only the new minor has', 'dropped by the emulating server'],
    [
      'kinds that the old server would store with other bytes',
      `${kindsWithEmptyParts.join(', ')}: empty new parts`,
    ],
    ['objects of the old server that the new one changed', 'ClusterRole system:controller:node-controller'],
  ])
})
