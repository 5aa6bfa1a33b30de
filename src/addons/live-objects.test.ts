import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { look } from './live-objects.ts'
import { widget, widgets } from './testing/manifests.ts'
import { testScene } from './testing/addon-test-bench.ts'

let authority: TestAuthority
const scene = testScene(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const old = { apiVersion: 'example.org/v1alpha1', kind: 'Widget', namespace: 'default', name: 'w' }

test('an object is found in whatever version the cluster still serves it', async () => {
  const { api, client } = await scene()
  expect(await look(client, old)).toBeUndefined()
  api.user('kubectl', widgets)
  expect(await look(client, old)).toBeUndefined()
  api.user('kubectl', widget('w'))
  expect(await look(client, old)).toMatchObject({ apiVersion: 'example.org/v1', spec: { size: 1 } })
})
