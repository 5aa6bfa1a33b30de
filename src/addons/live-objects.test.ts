import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { findLiveObject } from './live-objects.ts'
import { buildWidget, widgetCrd } from './testing/manifests.ts'
import { createAddonTestBench } from './testing/addon-test-bench.ts'

let ca: TestCa
const createBench = createAddonTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const old = { apiVersion: 'example.org/v1alpha1', kind: 'Widget', namespace: 'default', name: 'w' }

test('an object is found in another API version that the cluster serves', async () => {
  const { api, client } = await createBench()
  expect(await findLiveObject(client, old)).toBeUndefined()
  api.user('kubectl', widgetCrd)
  expect(await findLiveObject(client, old)).toBeUndefined()
  api.user('kubectl', buildWidget('w'))
  expect(await findLiveObject(client, old)).toMatchObject({ apiVersion: 'example.org/v1', spec: { size: 1 } })
})
