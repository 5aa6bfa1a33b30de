import { beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../../addons/addon-digest.ts'
import { type Inventory, inventoryText } from '../../../addons/inventory.ts'
import { referenceOf } from '../../../addons/reference.ts'
import { TestApi } from '../../../addons/testing/fake-addon-api.ts'
import { type ManagerSettings, noSettings } from '../../../contract/manager-settings.ts'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { knownResource } from '../../../kube/resources.ts'
import { type Hours, hours } from '../../testing/fast-time-bench.ts'
import { addonKeeper } from './addon-drift.ts'
import { addonMender } from './addon-reconciler.ts'
import { driftOf } from './detect-drift.ts'
import { seenKinds } from './kinds.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})

/** Three of every kind that is seen, and something that is not. */
const manifests = [
  ...seenKinds.flatMap(([apiVersion, kind]) =>
    ['one', 'two', 'three'].map((name) => {
      const isInside = knownResource(apiVersion, kind)?.namespaced === true
      return { apiVersion, kind, metadata: { name, ...(isInside ? { namespace: 'shop' } : {}) }, wished: 'x' }
    }),
  ),
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hidden', namespace: 'shop' } },
]
const addon = { name: 'hello', manifests }
const settings: ManagerSettings = { ...noSettings, addons: [addon] }

function pathOf({
  apiVersion,
  kind,
  metadata: { namespace, name },
}: (typeof manifests)[number] & { metadata: { namespace?: string } }): string {
  const within = namespace === undefined ? '' : `/namespaces/${namespace}`
  const plural = knownResource(apiVersion, kind)?.plural ?? ''
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}${within}/${plural}/${name}`
}

const at = (time: string, manager: string) => ({
  manager,
  operation: 'Update',
  time: `2026-11-16T0${time}:00Z`,
})

function putAll(
  { stage }: Hours,
  which: (name: string) => boolean,
  entries: Inventory['entries'] = [],
): void {
  const { objects } = stage.cluster
  for (const manifest of manifests) {
    if (!which(manifest.metadata.name)) continue
    const metadata = {
      ...manifest.metadata,
      labels: { 'hyperkube.dev/addon': 'hello' },
      managedFields: [at('7:00', 'hyperkube')],
    }
    objects.put(pathOf(manifest), { ...manifest, metadata })
  }
  const text = inventoryText({ addon: 'hello', settled: digestOf(addon), entries })
  objects.put('/api/v1/namespaces/kube-system/configmaps/hyperkube-addon-hello', {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: {
      name: 'hyperkube-addon-hello',
      namespace: 'kube-system',
      labels: { 'hyperkube.dev/addon-inventory': 'hello' },
    },
    data: { inventory: text },
  })
}

describe('addon-keeper', () => {
  test('says what is gone, with all rights of the row and no others, through an API that comes and goes', async () => {
    await using long = await hours(authority, [addonKeeper], { settings })
    const { cluster, authorizer } = long.stage
    putAll(long, (name) => name !== 'three')
    let trouble = 2
    cluster.intercept = ({ as }) =>
      as === undefined || trouble-- <= 0 ? undefined : { status: 500, json: {} }
    const manager = await long.start('m')
    await long.pass(12, manager)
    expect(cluster.events.length).toBeGreaterThan(1)
    expect(cluster.events[0]).toMatchObject({
      reason: 'AddonDrift',
      regarding: { kind: 'ConfigMap', name: 'hyperkube-addon-hello' },
      note: expect.stringMatching(/ConfigMap shop\/three is gone.* and 10 more/),
    })
    expect((await manager.ask('/metrics')).text).toContain(
      'hyperkube_addon_drift_objects{addon="hello"} 15\n',
    )
    expect(authorizer.refused).toEqual([])
    expect(authorizer.unused).toEqual([])
  })

  test('writes nothing where all is as it was put there, or somebody is at it', async () => {
    await using long = await hours(authority, [addonKeeper], { settings })
    const { cluster } = long.stage
    putAll(long, () => true)
    const manager = await long.start('m')
    await long.pass(30, manager)
    // A new wish is under way.
    cluster.objects.change('/api/v1/namespaces/kube-system/configmaps/hyperkube-addon-hello', {
      data: { inventory: inventoryText({ addon: 'hello', entries: [] }) },
    })
    cluster.objects.remove('/api/v1/namespaces/shop/services/one')
    await long.pass(30, manager)
    expect(cluster.deeds).toEqual([])
  })

  test('sees what is gone also of addons of which it does not know how they were wished', async () => {
    await using long = await hours(authority, [addonKeeper])
    const { cluster } = long.stage
    const entries = manifests.map(referenceOf)
    putAll(long, () => true, entries)
    const manager = await long.start('m')
    await long.pass(12, manager)
    expect(cluster.deeds).toEqual([])
    cluster.objects.change('/api/v1/namespaces/shop/services/one', { wished: 'y' })
    cluster.objects.remove('/apis/apps/v1/namespaces/shop/deployments/two')
    await long.pass(12, manager)
    expect(cluster.events[0]).toMatchObject({
      note: 'Deployment shop/two is gone; hyperkube up puts it back',
    })
    // What nobody may see is not said to be gone.
    expect((await manager.ask('/metrics')).text).toContain('hyperkube_addon_drift_objects{addon="hello"} 1\n')
  })

  test('what the API writes in its own way is no drift; what somebody has written since is', () => {
    const own = {
      name: 'hello',
      manifests: [{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'b' }, cpu: '0.5' }],
    }
    const object = (...managedFields: object[]): KubeObject => ({
      ...{ apiVersion: 'v1', kind: 'Service', cpu: '500m' },
      metadata: { name: 'a', namespace: 'b', labels: { 'hyperkube.dev/addon': 'hello' }, managedFields },
    })
    const drift = (...fields: object[]) => driftOf(own, new Map([['/Service/b/a', object(...fields)]]))
    expect(drift(at('7:00', 'hyperkube'))).toEqual([])
    expect(drift(at('7:00', 'hyperkube'), at('6:00', 'kubectl'))).toEqual([])
    expect(drift(at('7:00', 'hyperkube'), { ...at('8:00', 'kubelet'), subresource: 'status' })).toEqual([])
    expect(drift(at('7:00', 'hyperkube'), at('8:00', 'kubectl'))).toEqual([
      { what: 'Service b/a', is: 'changed' },
    ])
    expect(driftOf(own, new Map())).toEqual([{ what: 'Service b/a', is: 'gone' }])
  })
})

describe('addon-mender', () => {
  const one = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace: 'default' },
    data: { a: 'x' },
  }
  const small = { name: 'hello', manifests: [one] }

  /** An API that knows who has set which field, behind the rights of the stage. */
  async function mending() {
    const long = await hours(authority, [addonMender], { settings: { ...noSettings, addons: [small] } })
    const { cluster } = long.stage
    const api = new TestApi()
    const writes: string[] = []
    cluster.intercept = (asked) => {
      if (asked.path.includes('/leases/') || asked.path.endsWith('/leases') || asked.path.includes('/events'))
        return undefined
      if (asked.method !== 'GET' && asked.query.get('dryRun') === null)
        writes.push(`${asked.method} ${asked.path}`)
      return api.answer(asked)
    }
    const settle = (settled: string | undefined): void =>
      void api.user('hyperkube', {
        ...{ apiVersion: 'v1', kind: 'ConfigMap' },
        metadata: {
          name: 'hyperkube-addon-hello',
          namespace: 'kube-system',
          labels: { 'hyperkube.dev/addon-inventory': 'hello' },
        },
        data: { inventory: inventoryText({ addon: 'hello', settled, entries: [] }) },
      })
    return { long, api, writes, settle }
  }

  test('is off by default, puts back what is gone, and only what an operator has put there', async () => {
    expect(addonMender.byDefault).toBe(false)
    const { long, api, writes, settle } = await mending()
    await using stage = long
    settle(undefined)
    const manager = await stage.start('m')
    await stage.pass(12, manager)
    expect(writes).toEqual([])
    settle(digestOf(small))
    await stage.pass(12, manager)
    expect(
      api.find({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'one' }),
    ).toMatchObject({ data: { a: 'x' } })
    expect(stage.stage.cluster.events).toMatchObject([{ reason: 'AddonMended' }])
    const before = writes.length
    await stage.pass(60, manager)
    expect(writes).toHaveLength(before)
    expect(stage.stage.authorizer.refused).toEqual([])
  })

  test('leaves what somebody else has set, says so, and does not try again and again', async () => {
    const { long, api, writes, settle } = await mending()
    await using stage = long
    settle(digestOf(small))
    api.user('kubectl', { ...one, data: { a: 'y' } })
    const manager = await stage.start('m')
    await stage.pass(25, manager)
    expect(
      api.find({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'one' }),
    ).toMatchObject({ data: { a: 'y' } })
    expect(stage.stage.cluster.events[0]).toMatchObject({
      reason: 'AddonConflict',
      note: expect.stringContaining('.data.a is set by kubectl'),
    })
    const before = writes.length
    await stage.pass(60, manager)
    expect(manager.lines.filter((line) => line.includes('failed'))).toEqual([])
    // Once at each look, and the API does not take it.
    expect(writes.length - before).toBeLessThan(8)
    expect(stage.stage.authorizer.refused).toEqual([])
  })
})
