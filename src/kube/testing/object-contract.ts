import { expect, test } from 'vitest'
import { pollUntil } from '../../kit/poll.ts'
import type { KubeClient } from '../client.ts'
import { createUntypedKind, type KubeObject, type Manifest } from '../object.ts'
import { getObject, listObjects, objectExists } from '../read-objects.ts'
import { Watch } from '../watch.ts'
import {
  applyObject,
  applyStatus,
  createObject,
  deleteKubeObject,
  patchObject,
  replaceObject,
} from '../write-objects.ts'

const configMaps = createUntypedKind('v1', 'ConfigMap')
const toRef = (name: string): { namespace: string; name: string } => ({ namespace: 'default', name })

function buildConfigMap(
  name: string,
  data: Record<string, string>,
  labels?: Readonly<Record<string, string>>,
): Manifest {
  // Without labels, the field is left out. An empty map would make the field manager the owner of all labels.
  const metadata = { ...toRef(name), ...(labels === undefined ? {} : { labels }) }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
}

const widgetDefinition: Manifest = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

/** Tests of the behaviour that a real API server and the fake one share. Each test uses its own names. */
export function testObjectContract(connect: () => KubeClient | Promise<KubeClient>): void {
  test('are created, read, changed and deleted', async () => {
    const client = await connect()
    expect(await objectExists(client, configMaps, toRef('one'))).toBe(false)
    await applyObject(client, buildConfigMap('one', { word: 'first' }))
    expect(await getObject(client, configMaps, toRef('one'))).toMatchObject({ data: { word: 'first' } })
    await applyObject(client, buildConfigMap('one', { other: 'second' }))
    expect((await getObject(client, configMaps, toRef('one')))['data']).toEqual({ other: 'second' })
    expect(await deleteKubeObject(client, configMaps, toRef('one'))).toBe(true)
    expect(await deleteKubeObject(client, configMaps, toRef('one'))).toBe(false)
  })

  test('that exist cannot be created again', async () => {
    const client = await connect()
    await createObject(client, buildConfigMap('two', {}))
    await expect(createObject(client, buildConfigMap('two', {}))).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      reason: 'AlreadyExists',
      status: 409,
    })
  })

  test('with another uid or resourceVersion are not replaced or deleted', async () => {
    const client = await connect()
    const observed = await createObject(client, buildConfigMap('three', { turn: '1' }))
    await replaceObject(client, { ...observed, data: { turn: '2' } })
    await expect(replaceObject(client, { ...observed, data: { turn: '3' } })).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      reason: 'Conflict',
    })
    const stale = deleteKubeObject(client, configMaps, toRef('three'), {
      resourceVersion: observed.metadata.resourceVersion ?? '',
    })
    await expect(stale).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
    const other = deleteKubeObject(client, configMaps, toRef('three'), {
      uid: '00000000-0000-4000-8000-000000000000',
    })
    await expect(other).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
    expect(await objectExists(client, configMaps, toRef('three'))).toBe(true)
  })

  test('of a newly defined kind are found', async () => {
    const client = await connect()
    const widgets = createUntypedKind('example.org/v1', 'Widget')
    await expect(objectExists(client, widgets, toRef('w'))).rejects.toMatchObject({
      code: 'KUBE_KIND_UNKNOWN',
    })
    await applyObject(client, widgetDefinition)
    const widget = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: toRef('w') }
    await pollUntil(
      'widgets to be served',
      async () => applyObject(client, { ...widget, spec: { size: 3 } }),
      {
        timeoutMs: 30_000,
      },
    )
    await applyStatus(client, { ...widget, status: { phase: 'Fine' } })
    expect(await getObject(client, widgets, toRef('w'))).toMatchObject({
      spec: { size: 3 },
      status: { phase: 'Fine' },
    })
  })

  test('keep their resourceVersion after an unchanged patch and after a dry run', async () => {
    const client = await connect()
    const made = await createObject(client, buildConfigMap('same', { word: 'first' }))
    const { resourceVersion } = made.metadata
    const patched = await patchObject(client, configMaps, toRef('same'), { data: { word: 'first' } })
    expect(patched.metadata.resourceVersion).toBe(resourceVersion)
    const changed = buildConfigMap('same', { word: 'second' })
    expect(await applyObject(client, changed, { dryRun: true, force: true })).toMatchObject({
      data: { word: 'second' },
    })
    expect((await getObject(client, configMaps, toRef('same'))).metadata.resourceVersion).toBe(
      resourceVersion,
    )
  })

  test('have fields of several managers, and each removes only its own', async () => {
    const client = await connect()
    const name = 'shared'
    await applyObject(client, buildConfigMap(name, { word: 'theirs', kept: 'x' }), { manager: 'other' })
    await expect(applyObject(client, buildConfigMap(name, { word: 'ours' }))).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      causes: [{ reason: 'FieldManagerConflict', field: '.data.word' }],
    })
    await applyObject(client, buildConfigMap(name, { word: 'ours', own: 'y' }), { force: true })
    await applyObject(client, buildConfigMap(name, { word: 'ours' }))
    expect((await getObject(client, configMaps, toRef(name)))['data']).toEqual({ word: 'ours', kept: 'x' })
  })

  test('are listed once each over several pages, and a watch continues from the list', async () => {
    const client = await connect()
    const names = ['page-a', 'page-b', 'page-c', 'page-d', 'page-e']
    for (const name of names) await createObject(client, buildConfigMap(name, {}, { contract: 'pages' }))
    const options = { labels: 'contract=pages', namespace: 'default', limit: 2 }
    const { items } = await listObjects(client, configMaps, options)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names)
    const select = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? ''
    const watch = new Watch(client, configMaps, { ...options, select })
    const stop = new AbortController()
    const changes: string[] = []
    for await (const change of watch.changes(stop.signal)) {
      if (change.type !== 'listed') changes.push(`${change.type} ${change.key}`)
      else {
        await patchObject(client, configMaps, toRef('page-b'), { data: { turn: '2' } })
        await deleteKubeObject(client, configMaps, toRef('page-a'))
      }
      if (change.type === 'deleted') stop.abort()
    }
    expect(changes).toEqual([
      ...names.map((name) => `added default/${name}`),
      'modified default/page-b',
      'deleted default/page-a',
    ])
  })
}
