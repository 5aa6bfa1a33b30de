import { expect, test } from 'vitest'
import type { KubeObject } from '../kube/object.ts'
import { addonLabel } from './addon.ts'
import type { InventoryEntry } from './inventory.ts'
import {
  type UsageInput,
  buildUsageIndex,
  buildPruneFindings,
  type ContainedObject,
  decidePrune,
} from './decide-prune.ts'
import { buildConfigMap, buildNamespace, widgetCrd } from './testing/manifests.ts'

const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'a' }
const entry: InventoryEntry = { ...reference, uid: 'u' }

/** Builds an object that hyperkube created at second 10. The options override its properties. */
function object({
  uid = 'u',
  label = 'mine',
  manager = 'hyperkube',
  operation = 'Apply',
  time = 10,
} = {}): KubeObject {
  const at = (second: number) => new Date(second * 1000).toISOString()
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      namespace: 'kube-system',
      uid,
      labels: { [addonLabel]: label },
      creationTimestamp: at(10),
      managedFields: [
        { manager: 'kubectl', operation: 'Update', time: at(10) },
        { manager, operation, time: at(time) },
      ],
    },
  }
}

function decide(
  one: InventoryEntry,
  live: KubeObject | undefined,
  {
    inside: contents = [],
    going: removing = [],
    ...more
  }: Partial<UsageInput> & { inside?: ContainedObject[]; going?: string[] } = {},
) {
  const usage = buildUsageIndex({ addon: 'mine', desired: [], inventories: [], others: [], ...more })
  const { action, ...rest } = decidePrune(one, live, contents, new Set(removing), usage)
  return 'reason' in rest ? `${action}: ${rest.reason}` : action
}

test('only an object that this addon created is removed', () => {
  expect(decide(entry, object())).toBe('remove')
  expect(decide(entry, undefined)).toBe('forget: gone')
  expect(decide(entry, object({ uid: 'another' }))).toBe('forget: foreign')
  expect(decide({ ...entry, preexisting: true }, object())).toBe('forget: found')
})

test('an object that its chart wants to keep is left, and reported', () => {
  const kept = object()
  for (const policy of ['keep', ' Keep ']) {
    const annotations = { 'helm.sh/resource-policy': policy }
    const live = { ...kept, metadata: { ...kept.metadata, annotations } }
    expect(decide(entry, live)).toBe('forget: policy')
  }
  const [finding] = buildPruneFindings({ action: 'forget', entry, reason: 'policy' }, 'mine')
  expect(finding).toMatchObject({
    code: 'ADDON_OBJECT_LEFT',
    message:
      'addon mine: ConfigMap kube-system/a is no longer part of the addon, but is not deleted, because it has the annotation helm.sh/resource-policy: keep',
  })
})

test('an object without a recorded uid is removed only if hyperkube applied it with the label at creation', () => {
  expect(decide(reference, object())).toBe('remove')
  expect(decide(reference, object({ label: 'another' }))).toBe('forget: foreign')
  expect(decide(reference, object({ manager: 'kubectl' }))).toBe('forget: foreign')
  expect(decide(reference, object({ operation: 'Update' }))).toBe('forget: foreign')
  expect(decide(reference, object({ time: 11 }))).toBe('forget: foreign')
})

test('an object that moves to another addon is kept, and forgotten after the other inventory has it', () => {
  const other = (one: InventoryEntry) => ({ inventories: [{ addon: 'other', entries: [one] }] })
  expect(decide(entry, object(), other(entry))).toBe('forget: moved')
  expect(decide(entry, object(), other(reference))).toBe('hold: moving')
  expect(decide(entry, object(), { others: [{ name: 'other', manifests: [buildConfigMap('a')] }] })).toBe(
    'hold: moving',
  )
  // The addon's own inventory does not prevent the removal. Only the inventories of other addons do.
  expect(decide(entry, object(), { inventories: [{ addon: 'mine', entries: [entry] }] })).toBe('remove')
})

test('an object that is desired in another API group is not removed', () => {
  const before = { apiVersion: 'extensions/v1', kind: 'Ingress', namespace: 'a', name: 'i', uid: 'u' }
  const kept = [{ ...before, apiVersion: 'networking.k8s.io/v1' }]
  expect(decide(before, object(), { desired: kept })).toBe('forget: moved')
})

test('a CRD is removed only if all objects of its kind are removed with it', () => {
  const { apiVersion, kind, metadata } = widgetCrd
  const definition = { apiVersion, kind, name: metadata.name, uid: 'u' }
  const contents = [{ uid: 'w', description: 'Widget default/w' }]
  expect(decide(definition, object())).toBe('remove')
  expect(decide(definition, object(), { inside: contents, going: ['w'] })).toBe('remove')
  expect(decide(definition, object(), { inside: contents })).toBe('hold: in use')
})

test('a namespace stays while it has contents, or an addon desires objects in it', () => {
  const { apiVersion, kind, metadata } = buildNamespace('n')
  const own = { apiVersion, kind, name: metadata.name, uid: 'u' }
  expect(decide(own, object())).toBe('remove')
  expect(decide(own, object(), { inside: [{ uid: undefined, description: 'Secret n/x' }] })).toBe(
    'hold: in use',
  )
  const others = [{ name: 'other', manifests: [buildConfigMap('a', 'x', 'n')] }]
  expect(decide(own, object(), { others })).toBe('hold: in use')
})

test('findings name the objects that are kept', () => {
  expect(buildPruneFindings({ action: 'forget', entry, reason: 'found' }, 'mine')).toMatchObject([
    { code: 'ADDON_OBJECT_LEFT', hint: expect.stringContaining('kubectl delete configmap a -n kube-system') },
  ])
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name: 'w.example.org',
  }
  const users = ['Widget a', 'Widget b', 'Widget c', 'Widget d', 'Widget e']
  expect(
    buildPruneFindings({ action: 'hold', entry: definition, reason: 'in use', users }, 'mine'),
  ).toMatchObject([
    {
      code: 'ADDON_DEFINITION_IN_USE',
      message: expect.stringMatching(/Widget a, Widget b, Widget c and 2 more$/),
    },
  ])
  expect(buildPruneFindings({ action: 'forget', entry, reason: 'moved' }, 'mine')).toEqual([])
  const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'n' }
  // The command must list custom resources too.
  expect(
    buildPruneFindings({ action: 'hold', entry: namespace, reason: 'in use', users }, 'mine'),
  ).toMatchObject([{ hint: expect.stringContaining('kubectl api-resources') }])
})

test('the command that deletes an object says what else is deleted', () => {
  const findHint = (kind: string): string | undefined => {
    const left = { apiVersion: 'v1', kind, name: 'n' }
    return buildPruneFindings({ action: 'forget', entry: left, reason: 'found' }, 'mine')[0]?.hint
  }
  expect(findHint('ConfigMap')).toBe('if it is not needed: kubectl delete configmap n')
  expect(findHint('Namespace')).toMatch(/kubectl delete namespace n, which also deletes all its objects$/)
  expect(findHint('PersistentVolumeClaim')).toMatch(/ n, which may also delete its data$/)
})
