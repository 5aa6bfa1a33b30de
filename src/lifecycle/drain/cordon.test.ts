import { beforeAll, expect, test } from 'vitest'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import type { KubeClient } from '../../kube/client.ts'
import { cordonOwnerAnnotation, rolloutCordonReason } from '../cluster-objects/node.ts'
import { cordon, readCordon, uncordon, uncordonAfterRollout } from './cordon.ts'
import { createNodeApiServer, DrainedNode } from './testing/drained-node.ts'

let ca: TestCa
const open = createNodeApiServer(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

async function setup(): Promise<{ api: DrainedNode; client: KubeClient }> {
  const api = new DrainedNode()
  return { api, client: (await open(api)).client }
}

const cordoned = (api: DrainedNode) => api.node && readCordon(api.node)

test('a cordon records its owner and reason in an annotation, and uncordon removes both', async () => {
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

test('the cordon of an administrator stays unless uncordon is forced', async () => {
  const { api, client } = await setup()
  api.changeNode({ spec: { unschedulable: true } })
  await cordon(client, 'w1', 'me@here: upgrade')
  await uncordon(client, 'w1')
  expect(cordoned(api)).toBe('others')
  await uncordon(client, 'w1', { force: true })
  expect(cordoned(api)).toBe('none')
})

test('with a reason, only a cordon with this reason is removed', async () => {
  const { api, client } = await setup()
  await cordon(client, 'w1', 'me@here: hyperkube node drain')
  await uncordon(client, 'w1', { reason: 'upgrade' })
  expect(cordoned(api)).toBe('ours')
  await uncordon(client, 'w1', { reason: 'me@here: hyperkube node drain' })
  expect(cordoned(api)).toBe('none')
})

test('after a rollout, its own cordon is removed, and that of an earlier node drain stays', async () => {
  const { api, client } = await setup()
  await cordon(client, 'w1', 'me@here: hyperkube node drain')
  await cordon(client, 'w1', rolloutCordonReason)
  await uncordonAfterRollout(client, 'w1')
  expect(cordoned(api)).toBe('ours')
  await uncordon(client, 'w1')
  await cordon(client, 'w1', rolloutCordonReason)
  await uncordonAfterRollout(client, 'w1')
  expect(cordoned(api)).toBe('none')
})

test('an operator who drains a node takes over the cordon that a rollout has left', async () => {
  const { api, client } = await setup()
  await cordon(client, 'w1', rolloutCordonReason)
  await cordon(client, 'w1', 'me@here: hyperkube node drain')
  expect(cordoned(api)).toBe('ours')
  expect(api.node?.metadata.annotations).toEqual({
    [cordonOwnerAnnotation]: 'me@here: hyperkube node drain',
  })
})

test('a cordon that an administrator has removed is set again', async () => {
  const { api, client } = await setup()
  await cordon(client, 'w1', 'first')
  api.changeNode({ spec: { unschedulable: null } })
  expect(cordoned(api)).toBe('none')
  await cordon(client, 'w1', 'second')
  expect(api.node?.metadata.annotations).toEqual({ [cordonOwnerAnnotation]: 'second' })
})

test('after a conflict cordon reads the node again and keeps the cordon of another client', async () => {
  const { api, client } = await setup()
  api.onRequest = ({ method }) => {
    if (method === 'PATCH' && api.node?.spec?.unschedulable !== true)
      api.changeNode({ spec: { unschedulable: true } })
    return undefined
  }
  await cordon(client, 'w1', 'me@here: upgrade')
  expect(cordoned(api)).toBe('others')
})

test('cordon of a missing node is an error', async () => {
  const { api, client } = await setup()
  api.removeNode()
  await expect(cordon(client, 'w1', '')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' })
})
