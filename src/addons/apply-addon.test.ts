import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { difference } from './diff-addon.ts'
import { readInventories } from './inventory-store.ts'
import { isNone } from './addon-difference.ts'
import { lay, put } from './apply-addon.ts'
import { remove } from './remove-addon.ts'
import { configMap, deployment, namespace, secret, widget, widgets } from './testing/manifests.ts'
import { type Scene, testScene } from './testing/addon-test-bench.ts'

let authority: TestAuthority
const scene = testScene(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

const cm = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name })
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  name: 'widgets.example.org',
}

/** As lines: PATCH a. */
function changes({ server }: Scene): string[] {
  return server.asked
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)
}

async function inventory({ client }: Scene, addon: string): Promise<string[] | undefined> {
  const all = await readInventories(client)
  return all
    .find((one) => one.addon === addon)
    ?.entries.map(
      ({ kind, name, uid, found }) =>
        `${kind} ${name}${uid === undefined ? '?' : ''}${found ? ' found' : ''}`,
    )
    .toSorted()
}

test('all of an addon is put there in waves, entered before and after', async () => {
  const here = await scene()
  const manifests = [widget('w', 1), deployment('d', 2, 'own'), namespace('own'), widgets]
  const outcome = await put(here.client, { name: 'a', manifests }, here.options)
  expect(outcome).toEqual({ removed: [], findings: [] })
  expect(changes(here)).toEqual([
    'POST configmaps',
    'PATCH widgets.example.org',
    'PATCH own',
    'PATCH d',
    'PATCH w',
    'PUT hyperkube-addon-a',
  ])
  expect(await inventory(here, 'a')).toEqual([
    'CustomResourceDefinition widgets.example.org',
    'Deployment d',
    'Namespace own',
    'Widget w',
  ])
  const before = here.api.all()
  await put(here.client, { name: 'a', manifests }, here.options)
  expect(here.api.all()).toEqual(before)
})

test('what is laid is begun with and not finished; put finishes it', async () => {
  const here = await scene()
  const alone = deployment('alone', 1)
  const addon = { name: 'a', manifests: [widgets, widget('w'), configMap('c'), alone, deployment('d', 2)] }
  await lay(here.client, addon, here.options)
  expect(here.api.find(cm('c'))).toBeDefined()
  expect(changes(here).filter((change) => change.startsWith('PATCH'))).toEqual([
    'PATCH widgets.example.org',
    'PATCH c',
    'PATCH alone',
  ])
  expect(await difference(here.client, addon, here.options)).toMatchObject({ unfinished: true })
  await put(here.client, addon, here.options)
  expect(isNone(await difference(here.client, addon, here.options))).toBe(true)
  await remove(here.client, 'a', here.options)
  expect(here.api.find(cm('c'))).toBeUndefined()
})

test('what is no longer wished goes, the last wave first', async () => {
  const here = await scene()
  const all = [widgets, widget('w'), configMap('a'), deployment('d', 2)]
  await put(here.client, { name: 'a', manifests: all }, here.options)
  const asked = changes(here).length
  const { removed } = await put(here.client, { name: 'a', manifests: [configMap('a', 'two')] }, here.options)
  expect(removed.map(({ kind }) => kind)).toEqual(['Widget', 'Deployment', 'CustomResourceDefinition'])
  expect(changes(here).slice(asked)).toEqual([
    'PUT hyperkube-addon-a',
    'PATCH a',
    'DELETE w',
    'DELETE d',
    'DELETE widgets.example.org',
    'PUT hyperkube-addon-a',
  ])
  expect(here.api.find(cm('a'))).toMatchObject({ data: { word: 'two' } })
  expect(await inventory(here, 'a')).toEqual(['ConfigMap a'])
})

test('an object that was there before is kept as wished, and stays when the addon goes', async () => {
  const here = await scene()
  const theirs = configMap('a')
  here.api.user('kubectl', { ...theirs, data: { word: 'one', more: 'x' } })
  await put(here.client, { name: 'a', manifests: [theirs, configMap('b')] }, here.options)
  expect(await inventory(here, 'a')).toEqual(['ConfigMap a found', 'ConfigMap b'])
  const { findings } = await remove(here.client, 'a', here.options)
  expect(findings).toMatchObject([{ code: 'ADDON_OBJECT_LEFT' }])
  expect(here.api.find(cm('a'))).toMatchObject({ data: { word: 'one', more: 'x' } })
  expect(here.api.find(cm('b'))).toBeUndefined()
  expect(await inventory(here, 'a')).toBeUndefined()
})

test('an object that somebody has made anew under its name is theirs', async () => {
  const here = await scene()
  await put(here.client, { name: 'a', manifests: [configMap('a'), configMap('b')] }, here.options)
  here.api.remove(cm('a'))
  const labels = { 'hyperkube.dev/addon': 'a' }
  here.api.user('kubectl', { ...configMap('a'), metadata: { name: 'a', namespace: 'kube-system', labels } })
  const { removed, findings } = await put(here.client, { name: 'a', manifests: [] }, here.options)
  expect(removed).toMatchObject([{ name: 'b' }])
  expect(findings).toMatchObject([{ code: 'ADDON_OBJECT_LEFT' }])
  expect(here.api.find(cm('a'))).toBeDefined()
})

test('between the look and the removal it may become somebody else’s: it is left', async () => {
  const here = await scene()
  await put(here.client, { name: 'a', manifests: [configMap('a')] }, here.options)
  here.api.intercept = ({ method }) => {
    if (method !== 'DELETE') return undefined
    here.api.remove(cm('a'))
    here.api.user('kubectl', configMap('a', 'theirs'))
    here.api.intercept = () => undefined
    return undefined
  }
  await put(here.client, { name: 'a', manifests: [] }, here.options)
  expect(here.api.find(cm('a'))).toMatchObject({ data: { word: 'theirs' } })
})

test('what somebody makes between the look and the apply is theirs', async () => {
  const here = await scene()
  here.api.intercept = ({ method, path }) => {
    if (method === 'PATCH' && path.endsWith('/a')) here.api.user('kubectl', configMap('a'))
    return undefined
  }
  await put(here.client, { name: 'a', manifests: [configMap('a')] }, here.options)
  expect(await inventory(here, 'a')).toEqual(['ConfigMap a found'])
})

test.each([['before'], ['after']])(
  'what moves between addons is the same object; the former one is put %s',
  async (when) => {
    const here = await scene()
    const [before, after] = [
      [
        { name: 'a', manifests: [configMap('x')] },
        { name: 'b', manifests: [configMap('y')] },
      ],
      [
        { name: 'a', manifests: [] },
        { name: 'b', manifests: [configMap('y'), configMap('x')] },
      ],
    ]
    for (const addon of before) await put(here.client, addon, here.options)
    const uid = here.api.find(cm('x'))?.['metadata']
    for (const addon of when === 'before' ? after : after.toReversed()) {
      await put(here.client, addon, { ...here.options, others: after.filter((other) => other !== addon) })
    }
    expect(here.api.find(cm('x'))).toMatchObject({
      metadata: { uid: Reflect.get(Object(uid), 'uid'), labels: { 'hyperkube.dev/addon': 'b' } },
    })
    expect(await inventory(here, 'a')).toEqual([])
    expect(await inventory(here, 'b')).toEqual(['ConfigMap x', 'ConfigMap y'])
    await remove(here.client, 'b', here.options)
    expect(here.api.find(cm('x'))).toBeUndefined()
  },
)

test('a definition stays while there are objects of its kind that are not the addon’s', async () => {
  const here = await scene()
  await put(here.client, { name: 'a', manifests: [widgets, widget('w')] }, here.options)
  here.api.user('kubectl', widget('theirs'))
  const { removed, findings } = await remove(here.client, 'a', here.options)
  expect(removed).toMatchObject([{ name: 'w' }])
  expect(findings).toMatchObject([
    { code: 'ADDON_DEFINITION_IN_USE', message: expect.stringContaining('Widget default/theirs') },
  ])
  expect(await inventory(here, 'a')).toEqual(['CustomResourceDefinition widgets.example.org'])
  here.api.remove({ apiVersion: 'example.org/v1', kind: 'Widget', namespace: 'default', name: 'theirs' })
  await remove(here.client, 'a', here.options)
  expect(here.api.find(crd)).toBeUndefined()
  expect(await inventory(here, 'a')).toBeUndefined()
})

test('a namespace stays while somebody has something in it', async () => {
  const here = await scene()
  const manifests = [namespace('n'), configMap('own', 'x', 'n')]
  await put(here.client, { name: 'a', manifests }, here.options)
  here.api.user('kube-controller-manager', configMap('kube-root-ca.crt', 'x', 'n'))
  expect((await difference(here.client, { name: 'a', manifests: [] }, here.options)).findings).toEqual([])
  here.api.user('kubectl', configMap('theirs', 'x', 'n'))
  const { findings } = await remove(here.client, 'a', here.options)
  expect(findings).toMatchObject([
    { code: 'ADDON_NAMESPACE_IN_USE', message: expect.stringContaining('ConfigMap n/theirs') },
  ])
  expect(here.api.find({ ...cm('theirs'), namespace: 'n' })).toBeDefined()
})

test('what is not ready is waited for and told; past the deadline it is said what it is, and why', async () => {
  const here = await scene()
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'd-1', namespace: 'kube-system', labels: { app: 'd' } },
  }
  here.api.user('kubelet', pod)
  const ready = here.api.status
  here.api.status = (object) => {
    if (object['kind'] === 'Deployment') return { observedGeneration: 1 }
    const waiting = { reason: 'ErrImagePull', message: 'no such host' }
    return object['kind'] === 'Pod' ? { containerStatuses: [{ state: { waiting } }] } : ready(object)
  }
  const manifests = [deployment('d', 2), widgets, widget('w')]
  // The time is over as soon as something was told.
  const now = () => new Date(here.told.length * 1000)
  const failure = put(here.client, { name: 'a', manifests }, { ...here.options, now, deadline: 500 })
  await expect(failure).rejects.toMatchObject({
    code: 'ADDON_NOT_READY',
    message:
      'addon a: Deployment kube-system/d: 0 of 2 replicas are updated (pod d-1: ErrImagePull: no such host)',
  })
  expect(here.told[0]).toContain('Deployment kube-system/d: 0 of 2 replicas are updated')
  expect(await inventory(here, 'a')).toEqual([
    'CustomResourceDefinition widgets.example.org?',
    'Deployment d?',
    'Widget w?',
  ])
  here.api.status = ready
  await put(here.client, { name: 'a', manifests }, here.options)
  expect(await inventory(here, 'a')).toEqual([
    'CustomResourceDefinition widgets.example.org',
    'Deployment d',
    'Widget w',
  ])
})

test('a volume is waited for only where the class binds at once', async () => {
  const here = await scene()
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
  await put(here.client, { name: 'a', manifests }, here.options)
  const options = { ...here.options, deadline: Date.now() + 20 }
  await expect(
    put(here.client, { name: 'a', manifests: [...manifests, claim('c', 'now')] }, options),
  ).rejects.toThrow('PersistentVolumeClaim default/c: it has no volume yet')
})

test('what is still being removed is waited for, and made again', async () => {
  const here = await scene()
  const finalizers = ['example.org/tidy']
  here.api.user('kubectl', { ...configMap('a'), metadata: { ...configMap('a').metadata, finalizers } })
  here.api.intercept = ({ method, path }) => {
    if (method === 'PATCH' && path.endsWith('/a') && here.told.length > 0) here.api.remove(cm('a'))
    return undefined
  }
  await askToDelete(here)
  await put(here.client, { name: 'a', manifests: [configMap('a')] }, here.options)
  expect(here.told).toEqual(['addon a: ConfigMap kube-system/a: the former one is still being removed'])
  expect(await inventory(here, 'a')).toEqual(['ConfigMap a'])
})

async function askToDelete({ client }: Scene): Promise<void> {
  const path = '/api/v1/namespaces/kube-system/configmaps/a'
  await client.request({ method: 'DELETE', path, body: {} })
}

test('an object with a finalizer that nobody serves is named', async () => {
  const here = await scene()
  const own = configMap('a')
  const manifest = { ...own, metadata: { ...own.metadata, finalizers: ['example.org/tidy'] } }
  await put(here.client, { name: 'a', manifests: [manifest] }, here.options)
  const options = { ...here.options, deadline: Date.now() + 20 }
  await expect(remove(here.client, 'a', options)).rejects.toMatchObject({
    code: 'ADDON_NOT_GONE',
    message: 'addon a: ConfigMap kube-system/a: it is still there, with finalizers example.org/tidy',
  })
  expect(await inventory(here, 'a')).toEqual(['ConfigMap a'])
})

test('a webhook whose pods have just begun is waited for', async () => {
  const here = await scene()
  let left = 2
  here.api.intercept = ({ method, path }) =>
    method === 'PATCH' && path.endsWith('/w') && left-- > 0
      ? { status: 500, json: { kind: 'Status', reason: 'InternalError', message: 'failed calling webhook' } }
      : undefined
  await put(here.client, { name: 'a', manifests: [widgets, widget('w')] }, here.options)
  expect(here.told[0]).toContain('failed calling webhook')
})

test('a field that somebody else has is not taken without force', async () => {
  const here = await scene()
  const addon = { name: 'a', manifests: [configMap('a', 'ours')] }
  here.api.user('kubectl-edit', configMap('a', 'theirs'))
  await expect(put(here.client, addon, here.options)).rejects.toMatchObject({
    code: 'ADDON_CONFLICT',
    message: 'addon a: ConfigMap kube-system/a: .data.word is set by kubectl-edit',
    hint: expect.stringContaining('force: true of addon a'),
  })
  await put(here.client, { ...addon, force: true }, here.options)
  expect(here.api.find(cm('a'))).toMatchObject({ data: { word: 'ours' } })
})

test('a Job is refused before anything is done', async () => {
  const here = await scene()
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace: 'default' } }
  const addon = { name: 'a', manifests: [job] }
  await expect(put(here.client, addon, here.options)).rejects.toMatchObject({ code: 'ADDON_JOB' })
  expect(here.server.asked).toEqual([])
})

test('an inventory that cannot be read stops it, and one that somebody else has written since', async () => {
  const here = await scene()
  await put(here.client, { name: 'a', manifests: [] }, here.options)
  here.api.intercept = ({ method }) => {
    if (method !== 'PUT') return undefined
    here.api.user('another', { ...here.api.find(cm('hyperkube-addon-a')), data: { inventory: '{}' } })
    return undefined
  }
  const addon = { name: 'a', manifests: [configMap('a')] }
  await expect(put(here.client, addon, here.options)).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
  await expect(put(here.client, addon, here.options)).rejects.toMatchObject({
    code: 'ADDON_INVENTORY_NOT_READ',
    hint: expect.stringContaining('kubectl -n kube-system delete configmap hyperkube-addon-a'),
  })
  expect(here.api.find(cm('a'))).toBeUndefined()
})

test('an answer about the inventory that was lost is not taken for somebody else’s', async () => {
  const here = await scene()
  await put(here.client, { name: 'a', manifests: [] }, here.options)
  let left = 1
  here.api.intercept = ({ method }, serve) => {
    if (method !== 'PUT' || left-- <= 0) return undefined
    serve()
    return { cut: 'before' }
  }
  await put(here.client, { name: 'a', manifests: [configMap('a')] }, here.options)
  expect(await inventory(here, 'a')).toEqual(['ConfigMap a'])
})

test('what the API says of a secret that it does not take is not repeated', async () => {
  const here = await scene()
  const message = '.data.word: expected string, got hunter2'
  const addon = { name: 'a', manifests: [secret('keys', 'hunter2')] }
  here.api.intercept = ({ path, method }) =>
    path.endsWith('/keys') && method === 'PATCH'
      ? { status: 422, json: { kind: 'Status', reason: 'Invalid', message } }
      : undefined
  const error: unknown = await put(here.client, addon, here.options).catch((reason: unknown) => reason)
  expect(error).toMatchObject({
    code: 'KUBE_INVALID',
    message: 'Secret kube-system/keys: the API does not take it',
  })
  expect(Object(error).cause).toBeUndefined()
})

test('an abort ends the waiting', async () => {
  const here = await scene()
  const stop = new AbortController()
  here.api.status = () => undefined
  const options = { ...here.options, signal: stop.signal, tell: () => stop.abort(new Error('enough')) }
  await expect(put(here.client, { name: 'a', manifests: [deployment('d', 1)] }, options)).rejects.toThrow(
    'enough',
  )
})
