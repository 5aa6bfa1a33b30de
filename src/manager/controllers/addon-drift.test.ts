import { beforeAll, describe, expect, test } from 'vitest'
import { computeAddonDigest } from '../../addons/addon.ts'
import { type Inventory, serializeInventory } from '../../addons/inventory.ts'
import { toReference } from '../../addons/reference.ts'
import { createAddonApi } from '../../addons/testing/addon-test-bench.ts'
import { emptySettings, type ManagerSettings } from '../../contract/manager-settings.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import type { KubeObject } from '../../kube/object.ts'
import { findKnownResource } from '../../kube/resources.ts'
import { createFastTimeBench, type FastTimeBench } from '../testing/fast-time-bench.ts'
import { addonDrift, detectAddonDrift, readableKinds } from './addon-drift.ts'
import { addonReconciler } from './addon-reconciler.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})

/** Three objects of every readable kind, and one object of a kind that the controller cannot read. */
const manifests = [
  ...readableKinds.flatMap(([apiVersion, kind]) =>
    ['one', 'two', 'three'].map((name) => {
      const isInside = findKnownResource(apiVersion, kind)?.namespaced === true
      return { apiVersion, kind, metadata: { name, ...(isInside ? { namespace: 'shop' } : {}) }, value: 'x' }
    }),
  ),
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hidden', namespace: 'shop' } },
]
const addon = { name: 'hello', manifests }
const settings: ManagerSettings = { ...emptySettings, addons: [addon] }

function pathOf({
  apiVersion,
  kind,
  metadata: { namespace, name },
}: (typeof manifests)[number] & { metadata: { namespace?: string } }): string {
  const namespacePath = namespace === undefined ? '' : `/namespaces/${namespace}`
  const plural = findKnownResource(apiVersion, kind)?.plural ?? ''
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}${namespacePath}/${plural}/${name}`
}

const at = (time: string, manager: string) => ({
  manager,
  operation: 'Update',
  time: `2026-11-16T0${time}:00Z`,
})

function putAll(
  { bench }: FastTimeBench,
  which: (name: string) => boolean,
  entries: Inventory['entries'] = [],
): void {
  const { objects } = bench.cluster
  for (const manifest of manifests) {
    if (!which(manifest.metadata.name)) continue
    const metadata = {
      ...manifest.metadata,
      labels: { 'hyperkube.dev/addon': 'hello' },
      managedFields: [at('7:00', 'hyperkube')],
    }
    objects.put(pathOf(manifest), { ...manifest, metadata })
  }
  const text = serializeInventory({ addon: 'hello', appliedDigest: computeAddonDigest(addon), entries })
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

describe('addon-drift', () => {
  test('reports missing objects, with exactly the RBAC rules of the definition, through API failures', async () => {
    await using long = await createFastTimeBench(ca, [addonDrift], { settings })
    const { cluster, authorizer } = long.bench
    putAll(long, (name) => name !== 'three')
    let failuresLeft = 2
    cluster.intercept = ({ impersonatedUser }) =>
      impersonatedUser === undefined || failuresLeft-- <= 0 ? undefined : { status: 500, json: {} }
    const manager = await long.start('m')
    await long.advanceMinutes(12, manager)
    expect(cluster.events.length).toBeGreaterThan(1)
    expect(cluster.events[0]).toMatchObject({
      reason: 'AddonDrift',
      regarding: { kind: 'ConfigMap', name: 'hyperkube-addon-hello' },
      note: expect.stringMatching(/ConfigMap shop\/three is missing.* and 10 more/),
    })
    expect((await manager.get('/metrics')).text).toContain(
      'hyperkube_addon_drift_objects{addon="hello"} 15\n',
    )
    expect(authorizer.refused).toEqual([])
    expect(authorizer.unused).toEqual([])
  })

  test('writes nothing without drift, or while an apply is under way', async () => {
    await using long = await createFastTimeBench(ca, [addonDrift], { settings })
    const { cluster } = long.bench
    putAll(long, () => true)
    const manager = await long.start('m')
    await long.advanceMinutes(30, manager)
    // An inventory without a digest means that a new version is being applied. Missing objects are then not
    // drift.
    cluster.objects.change('/api/v1/namespaces/kube-system/configmaps/hyperkube-addon-hello', {
      data: { inventory: serializeInventory({ addon: 'hello', entries: [] }) },
    })
    cluster.objects.remove('/api/v1/namespaces/shop/services/one')
    await long.advanceMinutes(30, manager)
    expect(cluster.controllerWrites).toEqual([])
  })

  test('reports missing objects of addons without known manifests', async () => {
    await using long = await createFastTimeBench(ca, [addonDrift])
    const { cluster } = long.bench
    const entries = manifests.map(toReference)
    putAll(long, () => true, entries)
    const manager = await long.start('m')
    await long.advanceMinutes(12, manager)
    expect(cluster.controllerWrites).toEqual([])
    cluster.objects.change('/api/v1/namespaces/shop/services/one', { value: 'y' })
    cluster.objects.remove('/apis/apps/v1/namespaces/shop/deployments/two')
    await long.advanceMinutes(12, manager)
    expect(cluster.events[0]).toMatchObject({
      note: 'Deployment shop/two is missing; to restore: hyperkube up',
    })
    // Objects of kinds that the controller may not read are not reported as missing.
    expect((await manager.get('/metrics')).text).toContain('hyperkube_addon_drift_objects{addon="hello"} 1\n')
  })

  test('values that the API normalizes are no drift; later writes of other managers are', () => {
    const own = {
      name: 'hello',
      manifests: [{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'b' }, cpu: '0.5' }],
    }
    const object = (...managedFields: object[]): KubeObject => ({
      ...{ apiVersion: 'v1', kind: 'Service', cpu: '500m' },
      metadata: { name: 'a', namespace: 'b', labels: { 'hyperkube.dev/addon': 'hello' }, managedFields },
    })
    const drift = (...fields: object[]) =>
      detectAddonDrift(own, new Map([['/Service/b/a', object(...fields)]]))
    expect(drift(at('7:00', 'hyperkube'))).toEqual([])
    expect(drift(at('7:00', 'hyperkube'), at('6:00', 'kubectl'))).toEqual([])
    expect(drift(at('7:00', 'hyperkube'), { ...at('8:00', 'kubelet'), subresource: 'status' })).toEqual([])
    expect(drift(at('7:00', 'hyperkube'), at('8:00', 'kubectl'))).toEqual([
      { description: 'Service b/a', state: 'changed' },
    ])
    expect(detectAddonDrift(own, new Map())).toEqual([{ description: 'Service b/a', state: 'gone' }])
  })
})

describe('addon-reconciler', () => {
  const one = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace: 'default' },
    data: { a: 'x' },
  }
  const small = { name: 'hello', manifests: [one] }

  /** Starts the reconciler with a fake API that tracks field owners and enforces the RBAC rules. */
  async function startReconciler() {
    const long = await createFastTimeBench(ca, [addonReconciler], {
      settings: { ...emptySettings, addons: [small] },
    })
    const { cluster } = long.bench
    const api = createAddonApi()
    const writes: string[] = []
    cluster.intercept = (request) => {
      if (
        request.path.includes('/leases/') ||
        request.path.endsWith('/leases') ||
        request.path.includes('/events')
      )
        return undefined
      if (request.method !== 'GET' && request.query.get('dryRun') === null)
        writes.push(`${request.method} ${request.path}`)
      return api.respond(request)
    }
    const writeInventory = (settled: string | undefined, entries: Inventory['entries'] = []): void =>
      void api.user('hyperkube', {
        ...{ apiVersion: 'v1', kind: 'ConfigMap' },
        metadata: {
          name: 'hyperkube-addon-hello',
          namespace: 'kube-system',
          labels: { 'hyperkube.dev/addon-inventory': 'hello' },
        },
        data: { inventory: serializeInventory({ addon: 'hello', appliedDigest: settled, entries }) },
      })
    return { long, api, writes, settle: writeInventory }
  }

  test('is off by default, and restores missing objects only of addons that an operator applied', async () => {
    expect(addonReconciler.byDefault).toBe(false)
    const { long, api, writes, settle: writeInventory } = await startReconciler()
    await using stage = long
    writeInventory(undefined)
    const manager = await stage.start('m')
    await stage.advanceMinutes(12, manager)
    expect(writes).toEqual([])
    writeInventory(computeAddonDigest(small))
    await stage.advanceMinutes(12, manager)
    expect(api.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'one' })).toMatchObject(
      { data: { a: 'x' } },
    )
    expect(stage.bench.cluster.events).toMatchObject([{ reason: 'AddonReconciled' }])
    const before = writes.length
    await stage.advanceMinutes(60, manager)
    expect(writes).toHaveLength(before)
    expect(stage.bench.authorizer.refused).toEqual([])
  })

  test('does not remove an object that moves to an addon that it does not know', async () => {
    const { long, api, settle: writeInventory } = await startReconciler()
    await using stage = long
    const reference = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' }
    const { metadata } = api.user('hyperkube', {
      ...reference,
      metadata: { name: 'data', namespace: 'default' },
    })
    writeInventory(computeAddonDigest(small), [{ ...reference, uid: metadata.uid }])
    await stage.advanceMinutes(12, await stage.start('m'))
    expect(api.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'one' })).toBeDefined()
    expect(api.get(reference)).toBeDefined()
  })

  test('leaves fields of other managers, reports the conflict, and does not retry in a loop', async () => {
    const { long, api, writes, settle: writeInventory } = await startReconciler()
    await using stage = long
    writeInventory(computeAddonDigest(small))
    api.user('kubectl', { ...one, data: { a: 'y' } })
    const manager = await stage.start('m')
    await stage.advanceMinutes(25, manager)
    expect(api.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'one' })).toMatchObject(
      { data: { a: 'y' } },
    )
    expect(stage.bench.cluster.events[0]).toMatchObject({
      reason: 'AddonConflict',
      note: expect.stringContaining('.data.a is set by kubectl'),
    })
    const before = writes.length
    await stage.advanceMinutes(60, manager)
    expect(manager.lines.filter((line) => line.includes('failed'))).toEqual([])
    // The reconciler checks the addon every ten minutes. At each check it tries one write, which the API
    // rejects.
    expect(writes.length - before).toBeLessThan(8)
    expect(stage.bench.authorizer.refused).toEqual([])
  })
})
