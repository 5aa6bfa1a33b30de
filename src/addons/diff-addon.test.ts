import { beforeAll, expect, test } from 'vitest'
import { readVersioned } from '../contract/versioned.ts'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { difference } from './diff-addon.ts'
import { differenceFormat, isNone } from './addon-difference.ts'
import { put } from './apply-addon.ts'
import { configMap, deployment, namespace, secret, widget, widgets } from './testing/manifests.ts'
import { testScene } from './testing/addon-test-bench.ts'

let authority: TestAuthority
const scene = testScene(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const others = { others: [] }

test('nothing is changed by asking; what is absent would be made, also where it could not be tried yet', async () => {
  const { api, client } = await scene()
  const before = api.all()
  const manifests = [widgets, widget('w'), namespace('n'), configMap('a', 'x', 'n'), configMap('b')]
  const found = await difference(client, { name: 'a', manifests }, others)
  expect(found.objects.map(({ change }) => change)).toEqual(manifests.map(() => 'create'))
  expect(api.all()).toEqual(before)
  expect(readVersioned(differenceFormat, JSON.parse(JSON.stringify(found)))).toEqual(found)
  expect(isNone(found)).toBe(false)
})

test('what is as wished is the same; what is not is told field by field, and what would go', async () => {
  const { client, options } = await scene()
  const keys = (word: string) => secret('keys', word)
  const before = [configMap('same'), configMap('gone'), deployment('d', 1), keys('one')]
  await put(client, { name: 'a', manifests: before }, options)
  expect(isNone(await difference(client, { name: 'a', manifests: before }, others))).toBe(true)
  const after = [configMap('same'), deployment('d', 3), keys('another')]
  const found = await difference(client, { name: 'a', manifests: after }, others)
  expect(found.objects).toMatchObject([
    { name: 'same', change: 'none' },
    { name: 'd', change: 'change', fields: [{ path: 'spec.replicas', before: 1, after: 3 }] },
    { name: 'keys', change: 'change', fields: [{ path: 'data.word', hidden: true }] },
  ])
  expect(found.unwished).toEqual([
    { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'gone', act: 'remove' },
  ])
  const text = JSON.stringify(found)
  for (const word of ['one', 'another']) expect(text).not.toContain(Buffer.from(word).toString('base64'))
})

test('a conflict says which fields, who has them, and the ways out; with force they are taken', async () => {
  const { api, client } = await scene()
  api.user('kubectl-edit', configMap('a', 'theirs'))
  const addon = { name: 'a', manifests: [configMap('a', 'ours')] }
  const conflicts = [{ path: '.data.word', manager: 'kubectl-edit' }]
  expect((await difference(client, addon, others)).objects).toMatchObject([
    { change: 'conflict', conflicts, hint: expect.stringContaining('leave the field out of the manifest') },
  ])
  const [forced] = (await difference(client, { ...addon, force: true }, others)).objects
  expect(forced).toMatchObject({ change: 'change', taken: conflicts })
  expect(JSON.stringify(forced)).toContain('{"path":"data.word","before":"theirs","after":"ours"}')
})

test('what the API would not take is told, and what it cannot try', async () => {
  const { api, client } = await scene()
  const said = (message: string) => ({ status: 422, json: { kind: 'Status', reason: 'Invalid', message } })
  api.intercept = ({ method, path }) => {
    if (method !== 'PATCH') return undefined
    if (path.endsWith('/hook')) return said('admission webhook "x" does not support dry run')
    return said('spec.selector: field is immutable, hunter2')
  }
  const manifests = [deployment('d', 1), configMap('hook'), secret('keys', 'hunter2')]
  expect((await difference(client, { name: 'a', manifests }, others)).objects).toMatchObject([
    { change: 'refused', reason: expect.stringContaining('field is immutable') },
    { change: 'unknown' },
    { change: 'refused', reason: 'the API does not take it' },
  ])
})

test('of an addon that goes all would go, but for what others need', async () => {
  const { api, client, options } = await scene()
  await put(client, { name: 'a', manifests: [widgets, widget('w')] }, options)
  const going = { name: 'a', manifests: [] }
  const all = await difference(client, going, others)
  expect(all.unwished.map(({ kind, act }) => `${act} ${kind}`)).toEqual([
    'remove Widget',
    'remove CustomResourceDefinition',
  ])
  api.user('kubectl', widget('theirs'))
  const held = await difference(client, going, others)
  expect(held.unwished.map(({ act, why }) => [act, why])).toEqual([
    ['remove', undefined],
    ['hold', 'in use'],
  ])
  expect(held.findings).toMatchObject([{ code: 'ADDON_DEFINITION_IN_USE' }])
})

test('what was put there as it is wished is only looked at, and drift is still found', async () => {
  const { api, client, options } = await scene()
  const addon = { name: 'a', manifests: [configMap('a'), deployment('d', 2)] }
  await put(client, addon, options)
  const tried: string[] = []
  api.intercept = ({ method, path }) => {
    if (method === 'PATCH') tried.push(path)
    return undefined
  }
  expect(isNone(await difference(client, addon, others))).toBe(true)
  expect(tried).toEqual([])
  api.user('kubectl-edit', configMap('a', 'theirs'))
  expect((await difference(client, addon, others)).objects).toMatchObject([
    { change: 'conflict', conflicts: [{ manager: 'kubectl-edit' }] },
    { change: 'none' },
  ])
})

test('an addon whose run was cut before it was ready is to be finished', async () => {
  const { api, client, options } = await scene()
  const addon = { name: 'a', manifests: [configMap('a'), deployment('d', 2)] }
  api.intercept = ({ method, path }) =>
    method === 'PATCH' && path.endsWith('/d') ? { status: 403, json: { kind: 'Status' } } : undefined
  await expect(put(client, addon, options)).rejects.toMatchObject({ code: 'KUBE_FORBIDDEN' })
  api.intercept = () => undefined
  await put(client, { name: 'b', manifests: [configMap('b')] }, options)
  expect(await difference(client, addon, others)).toMatchObject({ unfinished: true })
  await put(client, addon, options)
  expect(isNone(await difference(client, addon, others))).toBe(true)
})
