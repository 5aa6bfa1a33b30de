import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import type { KubeClient } from '../../kube/client.ts'
import { cordon, cordonOwnerAnnotation, readCordon, uncordon } from './cordon.ts'
import { createNodeApiServer, FakeNodeApi } from './testing/fake-node-api.ts'

let ca: TestCa
const open = createNodeApiServer(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

async function setup(): Promise<{ api: FakeNodeApi; client: KubeClient }> {
  const api = new FakeNodeApi()
  return { api, client: (await open(api)).client }
}

const cordoned = (api: FakeNodeApi) => api.node && readCordon(api.node)

test('a cordon of ours says who and why, and is taken away again', async () => {
  const { api, client } = await setup()
  await cordon(client, 'w1', 'me@here: upgrade')
  expect(cordoned(api)).toBe('ours')
  expect(api.node?.metadata.annotations).toEqual({ [cordonOwnerAnnotation]: 'me@here: upgrade' })
  await cordon(client, 'w1', 'once more')
  expect(api.node?.metadata.annotations).toEqual({ [cordonOwnerAnnotation]: 'me@here: upgrade' })
  await uncordon(client, 'w1')
  expect(cordoned(api)).toBe('none')
  expect(api.node?.metadata.annotations).toEqual({})
})

test('the cordon of an administrator stays, unless forced', async () => {
  const { api, client } = await setup()
  if (api.node !== undefined) api.node.spec = { taints: [], unschedulable: true }
  await cordon(client, 'w1', 'me@here: upgrade')
  await uncordon(client, 'w1')
  expect(cordoned(api)).toBe('others')
  await uncordon(client, 'w1', { force: true })
  expect(cordoned(api)).toBe('none')
})

test('a cordon that an administrator has removed is set again', async () => {
  const { api, client } = await setup()
  await cordon(client, 'w1', 'first')
  if (api.node !== undefined) api.node.spec = { taints: [] }
  expect(cordoned(api)).toBe('none')
  await cordon(client, 'w1', 'second')
  expect(api.node?.metadata.annotations).toEqual({ [cordonOwnerAnnotation]: 'second' })
})

test('after a conflict it reads the node again and sees the other cordon', async () => {
  const { api, client } = await setup()
  api.intercept = ({ method }) => {
    if (method === 'PATCH' && api.node?.spec?.unschedulable !== true) {
      const { node } = api
      if (node !== undefined)
        api.node = {
          ...node,
          metadata: { name: 'w1', resourceVersion: '7' },
          spec: { taints: [], unschedulable: true },
        }
    }
    return undefined
  }
  await cordon(client, 'w1', 'me@here: upgrade')
  expect(cordoned(api)).toBe('others')
})

test('a missing node is an error', async () => {
  const { api, client } = await setup()
  api.node = undefined
  await expect(cordon(client, 'w1', '')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' })
})
