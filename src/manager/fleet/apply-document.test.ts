import { beforeAll, expect, test } from 'vitest'
import { applyAddon } from '../../addons/apply-addon.ts'
import { createAddonTestBench } from '../../addons/testing/addon-test-bench.ts'
import { buildConfigMap } from '../../addons/testing/manifests.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { applyDocument } from './apply-document.ts'

let ca: TestCa
const createBench = createAddonTestBench(() => ca)
beforeAll(async () => {
  ca = await createTestCa()
})

test('an addon that leaves the document is removed, unless the operator still wants it', async () => {
  const { api, client, options } = await createBench()
  const [gone, shop] = ['gone', 'shop'].map((name) => ({ name, manifests: [buildConfigMap(name)] }))
  if (gone === undefined || shop === undefined) throw new Error('no addon')
  for (const addon of [gone, shop]) await applyAddon(client, addon, options)
  const ownedAddons = ['gone', 'shop']
  const apply = { now: options.now, signal: options.signal, log: () => undefined }
  const find = (name: string) =>
    api.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name })
  await applyDocument(client, { addons: [], others: [shop] }, { isNew: true, ownedAddons }, apply)
  expect(find('gone')).toBeUndefined()
  expect(find('shop')).toBeDefined()
})

test('an object that moves to an addon outside of the document is not removed', async () => {
  const { api, client, options } = await createBench()
  const [web, data] = [buildConfigMap('web'), buildConfigMap('data')]
  await applyAddon(client, { name: 'web', manifests: [web, data] }, options)
  const document = {
    addons: [{ name: 'web', manifests: [web] }],
    others: [{ name: 'database', manifests: [data] }],
  }
  const apply = { now: options.now, signal: options.signal, log: () => undefined }
  await applyDocument(client, document, { isNew: true, ownedAddons: ['web'] }, apply)
  expect(
    api.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'data' }),
  ).toBeDefined()
})
