import { beforeAll, expect, test, vi } from 'vitest'
import { readVersioned } from '../contract/versioned.ts'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { diffAddon } from './diff-addon.ts'
import { differenceFormat, isEmptyDifference } from './addon-difference.ts'
import { addonLabel } from './addon.ts'
import { applyAddon, removeAddon } from './apply-addon.ts'
import { writeInventory } from './inventory-store.ts'
import { batchSize } from './live-objects.ts'
import { toReference } from './reference.ts'
import {
  buildConfigMap,
  buildDeployment,
  buildNamespace,
  buildSecret,
  buildWidget,
  widgetCrd,
} from './testing/manifests.ts'
import { createAddonTestBench } from './testing/addon-test-bench.ts'

let ca: TestCa
const createBench = createAddonTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const others = { others: [] }

test('diffAddon changes nothing and lists missing objects as created, even without a possible dry run', async () => {
  const { api, client } = await createBench()
  const before = api.all()
  const manifests = [
    widgetCrd,
    buildWidget('w'),
    buildNamespace('n'),
    buildConfigMap('a', 'x', 'n'),
    buildConfigMap('b'),
  ]
  const found = await diffAddon(client, { name: 'a', manifests }, others)
  expect(found.objects.map(({ change }) => change)).toEqual(manifests.map(() => 'create'))
  expect(api.all()).toEqual(before)
  expect(readVersioned(differenceFormat, JSON.parse(JSON.stringify(found)))).toEqual(found)
  expect(isEmptyDifference(found)).toBe(false)
})

test('the difference lists changed fields, unchanged objects and objects to prune', async () => {
  const { client, options } = await createBench()
  const keys = (word: string) => buildSecret('keys', word)
  const before = [buildConfigMap('same'), buildConfigMap('gone'), buildDeployment('d', 1), keys('one')]
  await applyAddon(client, { name: 'a', manifests: before }, options)
  expect(isEmptyDifference(await diffAddon(client, { name: 'a', manifests: before }, others))).toBe(true)
  const after = [buildConfigMap('same'), buildDeployment('d', 3), keys('another')]
  const found = await diffAddon(client, { name: 'a', manifests: after }, others)
  expect(found.objects).toMatchObject([
    { name: 'same', change: 'none' },
    { name: 'd', change: 'change', fields: [{ path: 'spec.replicas', before: 1, after: 3 }] },
    { name: 'keys', change: 'change', fields: [{ path: 'data.word', hidden: true }] },
  ])
  expect(found.toPrune).toEqual([
    { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'gone', action: 'remove' },
  ])
  const text = JSON.stringify(found)
  for (const word of ['one', 'another']) expect(text).not.toContain(Buffer.from(word).toString('base64'))
})

test('a conflict names fields, managers and a hint, and force takes the fields over', async () => {
  const { api, client } = await createBench()
  api.user('kubectl-edit', buildConfigMap('a', 'theirs'))
  const addon = { name: 'a', manifests: [buildConfigMap('a', 'ours')] }
  const conflicts = [{ path: '.data.word', manager: 'kubectl-edit' }]
  expect((await diffAddon(client, addon, others)).objects).toMatchObject([
    { change: 'conflict', conflicts, hint: expect.stringContaining('remove the field from the manifest') },
  ])
  const [forced] = (await diffAddon(client, { ...addon, force: true }, others)).objects
  expect(forced).toMatchObject({ change: 'change', taken: conflicts })
  expect(JSON.stringify(forced)).toContain('{"path":"data.word","before":"theirs","after":"ours"}')
})

test('objects that the API refuses or cannot dry-run are reported', async () => {
  const { api, client } = await createBench()
  const buildRefusal = (message: string) => ({
    status: 422,
    json: { kind: 'Status', reason: 'Invalid', message },
  })
  api.onRequest = ({ method, path }) => {
    if (method !== 'PATCH') return undefined
    if (path.endsWith('/hook')) return buildRefusal('admission webhook "x" does not support dry run')
    return buildRefusal('spec.selector: field is immutable, hunter2')
  }
  const manifests = [buildDeployment('d', 1), buildConfigMap('hook'), buildSecret('keys', 'hunter2')]
  expect((await diffAddon(client, { name: 'a', manifests }, others)).objects).toMatchObject([
    { change: 'refused', reason: expect.stringContaining('field is immutable') },
    { change: 'unknown' },
    { change: 'refused', reason: 'the API rejects it' },
  ])
})

test('manifests that change no object are recorded, so that controllers know them', async () => {
  const { api, client, options } = await createBench()
  const manifest = buildConfigMap('c')
  await applyAddon(client, { name: 'a', manifests: [manifest] }, options)
  const more = { ...manifest, data: { word: 'one', more: 'x' } }
  api.user('kubectl', { ...more, metadata: { ...manifest.metadata, labels: { [addonLabel]: 'a' } } })
  const addon = { name: 'a', manifests: [more] }
  const difference = await diffAddon(client, addon, others)
  expect(difference).toMatchObject({ outdatedRecord: true, objects: [{ change: 'none' }] })
  expect(readVersioned(differenceFormat, JSON.parse(JSON.stringify(difference)))).toEqual(difference)
  await applyAddon(client, addon, options)
  expect(isEmptyDifference(await diffAddon(client, addon, others))).toBe(true)
})

test('the requests of a large addon are sent in batches, and none after a failure', async () => {
  const { api, client, options } = await createBench()
  const count = 2 * batchSize + 1
  const manifests = Array.from({ length: count }, (_, index) => buildConfigMap(`c${index}`))
  const request = client.request.bind(client)
  let [running, highest, sent] = [0, 0, 0]
  vi.spyOn(client, 'request').mockImplementation(async (one) => {
    highest = Math.max(highest, ++running)
    sent++
    return request(one).finally(() => running--)
  })
  expect((await diffAddon(client, { name: 'a', manifests }, others)).objects).toHaveLength(count)
  expect(highest).toBe(batchSize)
  const entries = manifests.map((manifest) => ({ ...toReference(manifest), uid: 'u' }))
  await writeInventory(client, { addon: 'b', entries }, undefined)
  await removeAddon(client, 'b', options)
  expect(highest).toBe(batchSize)
  sent = 0
  api.onRequest = ({ method }) => (method === 'PATCH' ? { status: 500, json: { kind: 'Status' } } : undefined)
  await expect(diffAddon(client, { name: 'a', manifests }, others)).rejects.toThrow('failed')
  expect(sent).toBeLessThan(count + 2 * batchSize)
})

test('objects that need a namespace or a CRD of an earlier addon are not refused', async () => {
  const { client, options } = await createBench()
  const earlier = [{ name: 'base', manifests: [buildNamespace('n'), widgetCrd] }]
  const addon = { name: 'a', manifests: [buildConfigMap('c', 'x', 'n'), buildWidget('w')] }
  const changes = async (more: object = {}) =>
    (await diffAddon(client, addon, { others: earlier, ...more })).objects.map(({ change }) => change)
  expect(await changes()).toEqual(['refused', 'refused'])
  expect(await changes({ earlier })).toEqual(['create', 'create'])
  for (const one of [...earlier, addon]) await applyAddon(client, one, options)
  expect(await changes({ earlier })).toEqual(['none', 'none'])
})

test('a custom resource with a field of a newer CRD is not refused while the CRD changes too', async () => {
  const { api, client, options } = await createBench()
  await applyAddon(client, { name: 'a', manifests: [widgetCrd, buildWidget('w')] }, options)
  api.onRequest = ({ method, path }) =>
    method === 'PATCH' && path.endsWith('/w')
      ? { status: 500, json: { kind: 'Status', message: '.spec.colour: field not declared in schema' } }
      : undefined
  const diff = async (crd: typeof widgetCrd) =>
    (await diffAddon(client, { name: 'a', manifests: [crd, buildWidget('w', 2)] }, others)).objects[1]
  expect(await diff(widgetCrd)).toMatchObject({ change: 'refused' })
  const spec = { ...Object(widgetCrd['spec']), versions: [{ name: 'v1', served: true, schema: {} }] }
  expect(await diff({ ...widgetCrd, spec })).toMatchObject({ change: 'unknown' })
})

test('values of a Secret are not in an error of a dry run', async () => {
  const { api, client } = await createBench()
  const addon = { name: 'a', manifests: [buildSecret('keys', 'hunter2')] }
  const refuse = (message: string): void => {
    api.onRequest = ({ method }) =>
      method === 'PATCH' ? { status: 500, json: { kind: 'Status', message } } : undefined
  }
  refuse(
    'failed to create typed patch object (kube-system/keys; /v1, Kind=Secret): .data.pin: expected string, got &value.valueUnstructured{Value:12345}',
  )
  expect((await diffAddon(client, addon, others)).objects).toMatchObject([
    { change: 'refused', reason: 'the API rejects it' },
  ])
  refuse('cannot convert 12345')
  const failure: unknown = await diffAddon(client, addon, others).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    code: 'KUBE_SERVER',
    message: 'Secret kube-system/keys: the API rejects it',
  })
})

test('all objects of a removed addon would be pruned, except those in use', async () => {
  const { api, client, options } = await createBench()
  await applyAddon(client, { name: 'a', manifests: [widgetCrd, buildWidget('w')] }, options)
  const removedAddon = { name: 'a', manifests: [] }
  const all = await diffAddon(client, removedAddon, others)
  expect(all.toPrune.map(({ kind, action }) => `${action} ${kind}`)).toEqual([
    'remove Widget',
    'remove CustomResourceDefinition',
  ])
  api.user('kubectl', buildWidget('theirs'))
  const blocked = await diffAddon(client, removedAddon, others)
  expect(blocked.toPrune.map(({ action, reason }) => [action, reason])).toEqual([
    ['remove', undefined],
    ['hold', 'in use'],
  ])
  expect(blocked.findings).toMatchObject([{ code: 'ADDON_DEFINITION_IN_USE' }])
})

test('an unchanged addon is diffed without dry runs, and drift is still found', async () => {
  const { api, client, options } = await createBench()
  const addon = { name: 'a', manifests: [buildConfigMap('a'), buildDeployment('d', 2)] }
  await applyAddon(client, addon, options)
  const tried: string[] = []
  api.onRequest = ({ method, path }) => {
    if (method === 'PATCH') tried.push(path)
    return undefined
  }
  expect(isEmptyDifference(await diffAddon(client, addon, others))).toBe(true)
  expect(tried).toEqual([])
  api.user('kubectl-edit', buildConfigMap('a', 'theirs'))
  expect((await diffAddon(client, addon, others)).objects).toMatchObject([
    { change: 'conflict', conflicts: [{ manager: 'kubectl-edit' }] },
    { change: 'none' },
  ])
})

test('an addon whose apply failed midway is unfinished', async () => {
  const { api, client, options } = await createBench()
  const addon = { name: 'a', manifests: [buildConfigMap('a'), buildDeployment('d', 2)] }
  api.onRequest = ({ method, path }) =>
    method === 'PATCH' && path.endsWith('/d') ? { status: 403, json: { kind: 'Status' } } : undefined
  await expect(applyAddon(client, addon, options)).rejects.toMatchObject({ code: 'KUBE_FORBIDDEN' })
  api.onRequest = () => undefined
  await applyAddon(client, { name: 'b', manifests: [buildConfigMap('b')] }, options)
  expect(await diffAddon(client, addon, others)).toMatchObject({ unfinished: true })
  await applyAddon(client, addon, options)
  expect(isEmptyDifference(await diffAddon(client, addon, others))).toBe(true)
})
