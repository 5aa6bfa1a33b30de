import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import type { KubeClient } from '../../kube/client.ts'
import { cordon, cordonMark, cordonOf, uncordon } from './cordon.ts'
import { nodeBench, TestNodeApi } from './testing/fake-node-api.ts'

let authority: TestAuthority
const open = nodeBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

async function scene(): Promise<{ api: TestNodeApi; client: KubeClient }> {
  const api = new TestNodeApi()
  return { api, client: (await open(api)).client }
}

const cordoned = (api: TestNodeApi) => api.node && cordonOf(api.node)

test('a cordon of ours says who and why, and is taken away again', async () => {
  const { api, client } = await scene()
  await cordon(client, 'w1', 'me@here: upgrade')
  expect(cordoned(api)).toBe('ours')
  expect(api.node?.metadata.annotations).toEqual({ [cordonMark]: 'me@here: upgrade' })
  await cordon(client, 'w1', 'once more')
  expect(api.node?.metadata.annotations).toEqual({ [cordonMark]: 'me@here: upgrade' })
  await uncordon(client, 'w1')
  expect(cordoned(api)).toBe('none')
  expect(api.node?.metadata.annotations).toEqual({})
})

test('that of an administrator stays theirs, unless somebody insists', async () => {
  const { api, client } = await scene()
  if (api.node !== undefined) api.node.spec = { taints: [], unschedulable: true }
  await cordon(client, 'w1', 'me@here: upgrade')
  await uncordon(client, 'w1')
  expect(cordoned(api)).toBe('others')
  await uncordon(client, 'w1', { force: true })
  expect(cordoned(api)).toBe('none')
})

test('one that an administrator has taken away is set anew', async () => {
  const { api, client } = await scene()
  await cordon(client, 'w1', 'first')
  if (api.node !== undefined) api.node.spec = { taints: [] }
  expect(cordoned(api)).toBe('none')
  await cordon(client, 'w1', 'second')
  expect(api.node?.metadata.annotations).toEqual({ [cordonMark]: 'second' })
})

test('when somebody is faster it looks again, and sees their cordon', async () => {
  const { api, client } = await scene()
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

test('a node that is not there is told', async () => {
  const { api, client } = await scene()
  api.node = undefined
  await expect(cordon(client, 'w1', '')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' })
})
