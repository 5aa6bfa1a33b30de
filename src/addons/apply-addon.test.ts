import { beforeAll, expect, test } from 'vitest'
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import { isEmptyDifference } from './addon-difference.ts'
import { applyAddon, applyAddonNoWait, removeAddon, repairAddon } from './apply-addon.ts'
import { diffAddon } from './diff-addon.ts'
import { readInventories } from './inventory-store.ts'
import { type AddonTestBench, createAddonTestBench } from './testing/addon-test-bench.ts'
import {
  buildConfigMap,
  buildDeployment,
  buildNamespace,
  buildSecret,
  buildWidget,
  widgetCrd,
} from './testing/manifests.ts'

let ca: TestCa
const createBench = createAddonTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const toConfigMapReference = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'kube-system',
  name,
})
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  name: 'widgets.example.org',
}

/** Lists the requests that change objects, as method and object name, for example PATCH a. */
function listChanges({ server }: AddonTestBench): string[] {
  return server.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)
}

async function readInventory({ client }: AddonTestBench, addon: string): Promise<string[] | undefined> {
  const all = await readInventories(client)
  return all
    .find((one) => one.addon === addon)
    ?.entries.map(
      ({ kind, name, uid, preexisting }) =>
        `${kind} ${name}${uid === undefined ? '?' : ''}${preexisting ? ' found' : ''}`,
    )
    .toSorted()
}

test('an addon is applied in waves, and its inventory is written before and after', async () => {
  const bench = await createBench()
  const manifests = [buildWidget('w', 1), buildDeployment('d', 2, 'own'), buildNamespace('own'), widgetCrd]
  const result = await applyAddon(bench.client, { name: 'a', manifests }, bench.options)
  expect(result).toEqual({ removed: [], findings: [] })
  expect(listChanges(bench)).toEqual([
    'POST configmaps',
    'PATCH widgets.example.org',
    'PATCH own',
    'PATCH d',
    'PATCH w',
    'PUT hyperkube-addon-a',
  ])
  expect(await readInventory(bench, 'a')).toEqual([
    'CustomResourceDefinition widgets.example.org',
    'Deployment d',
    'Namespace own',
    'Widget w',
  ])
  const before = bench.api.all()
  await applyAddon(bench.client, { name: 'a', manifests }, bench.options)
  expect(bench.api.all()).toEqual(before)
})

test('applying without waiting starts an addon, and a full apply finishes it', async () => {
  const bench = await createBench()
  const alone = buildDeployment('alone', 1)
  const addon = {
    name: 'a',
    manifests: [widgetCrd, buildWidget('w'), buildConfigMap('c'), alone, buildDeployment('d', 2)],
  }
  await applyAddonNoWait(bench.client, addon, bench.options)
  expect(bench.api.get(toConfigMapReference('c'))).toBeDefined()
  expect(listChanges(bench).filter((change) => change.startsWith('PATCH'))).toEqual([
    'PATCH widgets.example.org',
    'PATCH c',
    'PATCH alone',
  ])
  expect(await diffAddon(bench.client, addon, bench.options)).toMatchObject({ unfinished: true })
  await applyAddon(bench.client, addon, bench.options)
  expect(isEmptyDifference(await diffAddon(bench.client, addon, bench.options))).toBe(true)
  await removeAddon(bench.client, 'a', bench.options)
  expect(bench.api.get(toConfigMapReference('c'))).toBeUndefined()
})

test('objects that are no longer desired are removed, the last wave first', async () => {
  const bench = await createBench()
  const all = [widgetCrd, buildWidget('w'), buildConfigMap('a'), buildDeployment('d', 2)]
  await applyAddon(bench.client, { name: 'a', manifests: all }, bench.options)
  const changeCount = listChanges(bench).length
  const { removed } = await applyAddon(
    bench.client,
    { name: 'a', manifests: [buildConfigMap('a', 'two')] },
    bench.options,
  )
  expect(removed.map(({ kind }) => kind)).toEqual(['Widget', 'Deployment', 'CustomResourceDefinition'])
  expect(listChanges(bench).slice(changeCount)).toEqual([
    'PUT hyperkube-addon-a',
    'PATCH a',
    'DELETE w',
    'DELETE d',
    'DELETE widgets.example.org',
    'PUT hyperkube-addon-a',
  ])
  expect(bench.api.get(toConfigMapReference('a'))).toMatchObject({ data: { word: 'two' } })
  expect(await readInventory(bench, 'a')).toEqual(['ConfigMap a'])
})

test('a preexisting object is kept as desired, and stays when the addon is removed', async () => {
  const bench = await createBench()
  const userManifest = buildConfigMap('a')
  bench.api.user('kubectl', { ...userManifest, data: { word: 'one', more: 'x' } })
  await applyAddon(bench.client, { name: 'a', manifests: [userManifest, buildConfigMap('b')] }, bench.options)
  expect(await readInventory(bench, 'a')).toEqual(['ConfigMap a found', 'ConfigMap b'])
  const { findings } = await removeAddon(bench.client, 'a', bench.options)
  expect(findings).toMatchObject([{ code: 'ADDON_OBJECT_LEFT' }])
  expect(bench.api.get(toConfigMapReference('a'))).toMatchObject({ data: { word: 'one', more: 'x' } })
  expect(bench.api.get(toConfigMapReference('b'))).toBeUndefined()
  expect(await readInventory(bench, 'a')).toBeUndefined()
})

test('an object that a user created again under the same name belongs to the user', async () => {
  const bench = await createBench()
  await applyAddon(
    bench.client,
    { name: 'a', manifests: [buildConfigMap('a'), buildConfigMap('b')] },
    bench.options,
  )
  bench.api.remove(toConfigMapReference('a'))
  const labels = { 'hyperkube.dev/addon': 'a' }
  bench.api.user('kubectl', {
    ...buildConfigMap('a'),
    metadata: { name: 'a', namespace: 'kube-system', labels },
  })
  const { removed, findings } = await applyAddon(bench.client, { name: 'a', manifests: [] }, bench.options)
  expect(removed).toMatchObject([{ name: 'b' }])
  expect(findings).toMatchObject([{ code: 'ADDON_OBJECT_LEFT' }])
  expect(bench.api.get(toConfigMapReference('a'))).toBeDefined()
})

test('an object that a user replaces between the check and the removal stays', async () => {
  const bench = await createBench()
  await applyAddon(bench.client, { name: 'a', manifests: [buildConfigMap('a')] }, bench.options)
  bench.api.onRequest = ({ method }) => {
    if (method !== 'DELETE') return undefined
    bench.api.remove(toConfigMapReference('a'))
    bench.api.user('kubectl', buildConfigMap('a', 'theirs'))
    bench.api.onRequest = () => undefined
    return undefined
  }
  await applyAddon(bench.client, { name: 'a', manifests: [] }, bench.options)
  expect(bench.api.get(toConfigMapReference('a'))).toMatchObject({ data: { word: 'theirs' } })
})

test('an object that a user creates between the check and the apply belongs to the user', async () => {
  const bench = await createBench()
  bench.api.onRequest = ({ method, path }) => {
    if (method === 'PATCH' && path.endsWith('/a')) bench.api.user('kubectl', buildConfigMap('a'))
    return undefined
  }
  await applyAddon(bench.client, { name: 'a', manifests: [buildConfigMap('a')] }, bench.options)
  expect(await readInventory(bench, 'a')).toEqual(['ConfigMap a found'])
})

test.each([['before'], ['after']])(
  'an object that moves between addons stays the same; the previous owner is applied %s',
  async (when) => {
    const bench = await createBench()
    const [before, after] = [
      [
        { name: 'a', manifests: [buildConfigMap('x')] },
        { name: 'b', manifests: [buildConfigMap('y')] },
      ],
      [
        { name: 'a', manifests: [] },
        { name: 'b', manifests: [buildConfigMap('y'), buildConfigMap('x')] },
      ],
    ]
    for (const addon of before) await applyAddon(bench.client, addon, bench.options)
    const uid = bench.api.get(toConfigMapReference('x'))?.['metadata']
    for (const addon of when === 'before' ? after : after.toReversed()) {
      await applyAddon(bench.client, addon, {
        ...bench.options,
        others: after.filter((other) => other !== addon),
      })
    }
    expect(bench.api.get(toConfigMapReference('x'))).toMatchObject({
      metadata: { uid: Reflect.get(Object(uid), 'uid'), labels: { 'hyperkube.dev/addon': 'b' } },
    })
    expect(await readInventory(bench, 'a')).toEqual([])
    expect(await readInventory(bench, 'b')).toEqual(['ConfigMap x', 'ConfigMap y'])
    await removeAddon(bench.client, 'b', bench.options)
    expect(bench.api.get(toConfigMapReference('x'))).toBeUndefined()
  },
)

test('a repair restores objects, prunes nothing, and stops if other manifests are being applied', async () => {
  const bench = await createBench()
  const addon = { name: 'a', manifests: [buildConfigMap('x')] }
  const before = { name: 'a', manifests: [buildConfigMap('x'), buildConfigMap('moving')] }
  await applyAddon(bench.client, before, bench.options)
  expect(await repairAddon(bench.client, addon, bench.options)).toBe(false)
  const others = [{ name: 'b', manifests: [buildConfigMap('moving')] }]
  await applyAddon(bench.client, addon, { ...bench.options, others })
  bench.api.remove(toConfigMapReference('x'))
  expect(await repairAddon(bench.client, addon, bench.options)).toBe(true)
  expect(bench.api.get(toConfigMapReference('x'))).toBeDefined()
  expect(bench.api.get(toConfigMapReference('moving'))).toBeDefined()
  expect(await readInventory(bench, 'a')).toEqual(['ConfigMap moving', 'ConfigMap x'])
  expect(await diffAddon(bench.client, addon, { others })).toMatchObject({ objects: [{ change: 'none' }] })
})

test('a CRD stays while objects of its kind exist that the addon does not own', async () => {
  const bench = await createBench()
  await applyAddon(bench.client, { name: 'a', manifests: [widgetCrd, buildWidget('w')] }, bench.options)
  bench.api.user('kubectl', buildWidget('theirs'))
  const { removed, findings } = await removeAddon(bench.client, 'a', bench.options)
  expect(removed).toMatchObject([{ name: 'w' }])
  expect(findings).toMatchObject([
    { code: 'ADDON_DEFINITION_IN_USE', message: expect.stringContaining('Widget default/theirs') },
  ])
  expect(await readInventory(bench, 'a')).toEqual(['CustomResourceDefinition widgets.example.org'])
  const difference = await diffAddon(bench.client, { name: 'a', manifests: [] }, bench.options)
  expect(isEmptyDifference(difference)).toBe(true)
  bench.api.remove({ apiVersion: 'example.org/v1', kind: 'Widget', namespace: 'default', name: 'theirs' })
  await removeAddon(bench.client, 'a', bench.options)
  expect(bench.api.get(crd)).toBeUndefined()
  expect(await readInventory(bench, 'a')).toBeUndefined()
})

test('a namespace stays while it has objects of users', async () => {
  const bench = await createBench()
  const manifests = [buildNamespace('n'), buildConfigMap('own', 'x', 'n')]
  await applyAddon(bench.client, { name: 'a', manifests }, bench.options)
  bench.api.user('kube-controller-manager', buildConfigMap('kube-root-ca.crt', 'x', 'n'))
  expect((await diffAddon(bench.client, { name: 'a', manifests: [] }, bench.options)).findings).toEqual([])
  bench.api.user('kubectl', buildConfigMap('theirs', 'x', 'n'))
  const { findings } = await removeAddon(bench.client, 'a', bench.options)
  expect(findings).toMatchObject([
    { code: 'ADDON_NAMESPACE_IN_USE', message: expect.stringContaining('ConfigMap n/theirs') },
  ])
  expect(bench.api.get({ ...toConfigMapReference('theirs'), namespace: 'n' })).toBeDefined()
})

test('custom resources of users keep their namespace; those of pods go with it', async () => {
  const bench = await createBench()
  const inNamespace = (name: string, owners: readonly object[] = []) => {
    const { metadata, ...widget } = buildWidget(name)
    return { ...widget, metadata: { ...metadata, namespace: 'n', ownerReferences: owners } }
  }
  const pod = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1' }
  await applyAddon(bench.client, { name: 'a', manifests: [buildNamespace('n'), widgetCrd] }, bench.options)
  bench.api.user('pod', inNamespace('report', [pod]))
  const removedAddon = { name: 'a', manifests: [] }
  expect((await diffAddon(bench.client, removedAddon, bench.options)).findings).toEqual([])
  bench.api.user('kubectl', inNamespace('theirs'))
  const { findings } = await removeAddon(bench.client, 'a', bench.options)
  expect(findings).toMatchObject([
    { code: 'ADDON_NAMESPACE_IN_USE', message: expect.stringContaining('Widget n/theirs') },
    { code: 'ADDON_DEFINITION_IN_USE', message: expect.stringContaining('Widget n/') },
  ])
})

test('a custom resource of a foreign CRD keeps its namespace, and so the volume claim that it owns', async () => {
  const bench = await createBench()
  const { metadata, ...widget } = buildWidget('database')
  await applyAddon(bench.client, { name: 'a', manifests: [buildNamespace('n')] }, bench.options)
  bench.api.user('kubectl', widgetCrd)
  bench.api.user('kubectl', { ...widget, metadata: { ...metadata, namespace: 'n' } })
  bench.api.user('operator', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'n', ownerReferences: [{ kind: 'Widget', name: 'database' }] },
  })
  const { findings } = await removeAddon(bench.client, 'a', bench.options)
  expect(findings).toMatchObject([
    { code: 'ADDON_NAMESPACE_IN_USE', message: expect.stringContaining('Widget n/database') },
  ])
  expect(bench.api.get({ apiVersion: 'v1', kind: 'Namespace', name: 'n' })).toBeDefined()
})

test.each([
  ['does not know', 404],
  ['fails to convert', 500],
])('a CRD stays while the API server %s its kind', async (_, status) => {
  const bench = await createBench()
  await applyAddon(bench.client, { name: 'a', manifests: [widgetCrd] }, bench.options)
  bench.api.user('kubectl', buildWidget('theirs'))
  bench.api.onRequest = ({ path }) =>
    path.startsWith('/apis/example.org/')
      ? { status, json: { kind: 'Status', message: 'broken' } }
      : undefined
  const { findings } = await removeAddon(bench.client, 'a', bench.options)
  expect(findings).toMatchObject([
    { code: 'ADDON_DEFINITION_IN_USE', message: expect.stringContaining('Widget objects, which the API') },
  ])
  expect(bench.api.get(crd)).toBeDefined()
})

test('an unschedulable pod is reported with the node conditions and taints that prevent scheduling', async () => {
  const bench = await createBench()
  const labels = { app: 'd' }
  bench.api.user('kubelet', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'd-1', namespace: 'kube-system', labels },
  })
  const taint = { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' }
  for (const name of ['cp1', 'w1'])
    bench.api.user('kubelet', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: { taints: [taint] },
    })
  const message = '0/2 nodes are available: 2 node(s) had untolerated taint(s).'
  const ready = bench.api.status
  bench.api.status = (object) => {
    if (object['kind'] === 'Deployment') return { observedGeneration: 1 }
    return object['kind'] === 'Pod'
      ? { conditions: [{ type: 'PodScheduled', status: 'False', message }] }
      : ready(object)
  }
  const now = () => new Date(bench.reported.length * 1000)
  const addon = { name: 'a', manifests: [buildDeployment('d', 2)] }
  await expect(
    applyAddon(bench.client, addon, { ...bench.options, now, deadline: 500 }),
  ).rejects.toMatchObject({
    message: `addon a: Deployment kube-system/d: 0 of 2 replicas are updated (pod d-1: not schedulable: ${message}; disk pressure on cp1 and w1, taint node.kubernetes.io/disk-pressure)`,
  })
})

test('an object that is not ready by the deadline is named in the error with its cause', async () => {
  const bench = await createBench()
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'd-1', namespace: 'kube-system', labels: { app: 'd' } },
  }
  bench.api.user('kubelet', pod)
  const ready = bench.api.status
  bench.api.status = (object) => {
    if (object['kind'] === 'Deployment') return { observedGeneration: 1 }
    const waiting = { reason: 'ErrImagePull', message: 'no such host' }
    return object['kind'] === 'Pod' ? { containerStatuses: [{ state: { waiting } }] } : ready(object)
  }
  const manifests = [buildDeployment('d', 2), widgetCrd, buildWidget('w')]
  // The clock passes the deadline as soon as the first wait is reported.
  const now = () => new Date(bench.reported.length * 1000)
  const failure = applyAddon(bench.client, { name: 'a', manifests }, { ...bench.options, now, deadline: 500 })
  await expect(failure).rejects.toMatchObject({
    code: 'ADDON_NOT_READY',
    message:
      'addon a: Deployment kube-system/d: 0 of 2 replicas are updated (pod d-1: ErrImagePull: no such host)',
  })
  expect(bench.reported[0]).toContain('Deployment kube-system/d: 0 of 2 replicas are updated')
  expect(await readInventory(bench, 'a')).toEqual([
    'CustomResourceDefinition widgets.example.org?',
    'Deployment d?',
    'Widget w?',
  ])
  bench.api.status = ready
  await applyAddon(bench.client, { name: 'a', manifests }, bench.options)
  expect(await readInventory(bench, 'a')).toEqual([
    'CustomResourceDefinition widgets.example.org',
    'Deployment d',
    'Widget w',
  ])
})

test('a volume claim is waited for only if its storage class binds immediately', async () => {
  const bench = await createBench()
  const storageClass = (name: string, volumeBindingMode: string) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    volumeBindingMode,
  })
  const claim = (name: string, storageClassName: string) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default' },
    spec: { storageClassName },
  })
  const classes = [storageClass('late', 'WaitForFirstConsumer'), storageClass('now', 'Immediate')]
  const manifests = [...classes, claim('a', 'late'), claim('b', '')]
  await applyAddon(bench.client, { name: 'a', manifests }, bench.options)
  const options = { ...bench.options, deadline: Date.now() + 20 }
  await expect(
    applyAddon(bench.client, { name: 'a', manifests: [...manifests, claim('c', 'now')] }, options),
  ).rejects.toThrow('PersistentVolumeClaim default/c: it has no volume yet')
})

test('an object that is still being deleted is waited for and created again', async () => {
  const bench = await createBench()
  const finalizers = ['example.org/tidy']
  bench.api.user('kubectl', {
    ...buildConfigMap('a'),
    metadata: { ...buildConfigMap('a').metadata, finalizers },
  })
  bench.api.onRequest = ({ method, path }) => {
    if (method === 'PATCH' && path.endsWith('/a') && bench.reported.length > 0)
      bench.api.remove(toConfigMapReference('a'))
    return undefined
  }
  await requestDelete(bench)
  await applyAddon(bench.client, { name: 'a', manifests: [buildConfigMap('a')] }, bench.options)
  expect(bench.reported).toEqual([
    'addon a: ConfigMap kube-system/a: the previous object is still being deleted',
  ])
  expect(await readInventory(bench, 'a')).toEqual(['ConfigMap a'])
})

async function requestDelete({ client }: AddonTestBench): Promise<void> {
  const path = '/api/v1/namespaces/kube-system/configmaps/a'
  await client.request({ method: 'DELETE', path, body: {} })
}

test('an object that a finalizer keeps is named in the error', async () => {
  const bench = await createBench()
  const own = buildConfigMap('a')
  const manifest = { ...own, metadata: { ...own.metadata, finalizers: ['example.org/tidy'] } }
  await applyAddon(bench.client, { name: 'a', manifests: [manifest] }, bench.options)
  const options = { ...bench.options, deadline: Date.now() + 20 }
  await expect(removeAddon(bench.client, 'a', options)).rejects.toMatchObject({
    code: 'ADDON_NOT_REMOVED',
    message: 'addon a: ConfigMap kube-system/a: it still exists, with finalizers example.org/tidy',
  })
  expect(await readInventory(bench, 'a')).toEqual(['ConfigMap a'])
})

test('a failing webhook call is retried until the webhook is ready', async () => {
  const bench = await createBench()
  let remaining = 2
  bench.api.onRequest = ({ method, path }) =>
    method === 'PATCH' && path.endsWith('/w') && remaining-- > 0
      ? { status: 500, json: { kind: 'Status', reason: 'InternalError', message: 'failed calling webhook' } }
      : undefined
  await applyAddon(bench.client, { name: 'a', manifests: [widgetCrd, buildWidget('w')] }, bench.options)
  expect(bench.reported[0]).toContain('failed calling webhook')
})

test('a custom resource waits until the API serves the CRD of an earlier addon', async () => {
  const bench = await createBench()
  const earlier = { name: 'crds', manifests: [widgetCrd] }
  await applyAddon(bench.client, earlier, bench.options)
  let remaining = 3
  bench.api.onRequest = ({ path }) =>
    path === '/apis/example.org/v1' && remaining-- > 0
      ? { status: 404, text: '404 page not found' }
      : undefined
  const addon = { name: 'a', manifests: [buildWidget('w')] }
  await applyAddon(bench.client, addon, { ...bench.options, others: [earlier] })
  expect(bench.reported[0]).toContain('the cluster has no Widget in example.org/v1')
  expect(await readInventory(bench, 'a')).toEqual(['Widget w'])
})

test('a field of another manager is not taken over without force', async () => {
  const bench = await createBench()
  const addon = { name: 'a', manifests: [buildConfigMap('a', 'ours')] }
  bench.api.user('kubectl-edit', buildConfigMap('a', 'theirs'))
  await expect(applyAddon(bench.client, addon, bench.options)).rejects.toMatchObject({
    code: 'ADDON_CONFLICT',
    message: 'addon a: ConfigMap kube-system/a: .data.word is set by kubectl-edit',
    hint: expect.stringContaining('force: true for addon a'),
  })
  await applyAddon(bench.client, { ...addon, force: true }, bench.options)
  expect(bench.api.get(toConfigMapReference('a'))).toMatchObject({ data: { word: 'ours' } })
})

test('an addon with a Job is refused before any request', async () => {
  const bench = await createBench()
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace: 'default' } }
  const addon = { name: 'a', manifests: [job] }
  await expect(applyAddon(bench.client, addon, bench.options)).rejects.toMatchObject({ code: 'ADDON_JOB' })
  expect(bench.server.requests).toEqual([])
})

test('an unreadable or concurrently changed inventory stops the apply', async () => {
  const bench = await createBench()
  await applyAddon(bench.client, { name: 'a', manifests: [] }, bench.options)
  bench.api.onRequest = ({ method }) => {
    if (method !== 'PUT') return undefined
    bench.api.user('another', {
      ...bench.api.get(toConfigMapReference('hyperkube-addon-a')),
      data: { inventory: '{}' },
    })
    return undefined
  }
  const addon = { name: 'a', manifests: [buildConfigMap('a')] }
  await expect(applyAddon(bench.client, addon, bench.options)).rejects.toMatchObject({
    code: 'KUBE_CONFLICT',
  })
  await expect(applyAddon(bench.client, addon, bench.options)).rejects.toMatchObject({
    code: 'ADDON_INVENTORY_NOT_READ',
    hint: expect.stringContaining('kubectl -n kube-system delete configmap hyperkube-addon-a'),
  })
  expect(bench.api.get(toConfigMapReference('a'))).toBeUndefined()
})

test('a lost response to an inventory write is not taken for a conflict', async () => {
  const bench = await createBench()
  await applyAddon(bench.client, { name: 'a', manifests: [] }, bench.options)
  let remaining = 1
  bench.api.onRequest = ({ method }, serve) => {
    if (method !== 'PUT' || remaining-- <= 0) return undefined
    serve()
    return { cut: 'before' }
  }
  await applyAddon(bench.client, { name: 'a', manifests: [buildConfigMap('a')] }, bench.options)
  expect(await readInventory(bench, 'a')).toEqual(['ConfigMap a'])
})

test('an API error about a Secret is reported without its message', async () => {
  const bench = await createBench()
  const message = '.data.word: expected string, got hunter2'
  const addon = { name: 'a', manifests: [buildSecret('keys', 'hunter2')] }
  bench.api.onRequest = ({ path, method }) =>
    path.endsWith('/keys') && method === 'PATCH'
      ? { status: 422, json: { kind: 'Status', reason: 'Invalid', message } }
      : undefined
  const error: unknown = await applyAddon(bench.client, addon, bench.options).catch(
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({
    code: 'KUBE_INVALID',
    message: 'Secret kube-system/keys: the API rejects it',
  })
  expect(Object(error).cause).toBeUndefined()
})

test('an abort ends the wait for readiness', async () => {
  const bench = await createBench()
  const stop = new AbortController()
  bench.api.status = () => undefined
  const options = { ...bench.options, signal: stop.signal, emit: () => stop.abort(new Error('enough')) }
  await expect(
    applyAddon(bench.client, { name: 'a', manifests: [buildDeployment('d', 1)] }, options),
  ).rejects.toThrow('enough')
})
