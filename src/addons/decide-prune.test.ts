import { expect, test } from 'vitest'
import type { KubeObject } from '../kube/object.ts'
import { addonLabel } from './addon.ts'
import type { Entry } from './inventory.ts'
import { type Circumstances, elsewhereOf, findingOf, type Inside, verdictOn } from './decide-prune.ts'
import { configMap, namespace, widgets } from './testing/manifests.ts'

const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'a' }
const entry: Entry = { ...reference, uid: 'u' }

/** Made at second 10 by us, unless it is said otherwise. */
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

function verdict(
  one: Entry,
  there: KubeObject | undefined,
  { inside = [], going = [], ...more }: Partial<Circumstances> & { inside?: Inside[]; going?: string[] } = {},
) {
  const elsewhere = elsewhereOf({ addon: 'mine', kept: [], inventories: [], others: [], ...more })
  const { act, ...rest } = verdictOn(one, there, inside, new Set(going), elsewhere)
  return 'why' in rest ? `${act}: ${rest.why}` : act
}

test('only the very object that was put there is removed', () => {
  expect(verdict(entry, object())).toBe('remove')
  expect(verdict(entry, undefined)).toBe('forget: gone')
  expect(verdict(entry, object({ uid: 'another' }))).toBe('forget: foreign')
  expect(verdict({ ...entry, found: true }, object())).toBe('forget: found')
})

test('without a uid it must be applied in our name, labelled, and ours from the beginning', () => {
  expect(verdict(reference, object())).toBe('remove')
  expect(verdict(reference, object({ label: 'another' }))).toBe('forget: foreign')
  expect(verdict(reference, object({ manager: 'kubectl' }))).toBe('forget: foreign')
  expect(verdict(reference, object({ operation: 'Update' }))).toBe('forget: foreign')
  expect(verdict(reference, object({ time: 11 }))).toBe('forget: foreign')
})

test('what has moved to another addon is not removed, and forgotten only once the other has it', () => {
  const other = (one: Entry) => ({ inventories: [{ addon: 'other', entries: [one] }] })
  expect(verdict(entry, object(), other(entry))).toBe('forget: moved')
  expect(verdict(entry, object(), other(reference))).toBe('hold: moving')
  expect(verdict(entry, object(), { others: [{ name: 'other', manifests: [configMap('a')] }] })).toBe(
    'hold: moving',
  )
  // Its own inventory says nothing of others.
  expect(verdict(entry, object(), { inventories: [{ addon: 'mine', entries: [entry] }] })).toBe('remove')
})

test('the same object in another group is not removed', () => {
  const before = { apiVersion: 'extensions/v1', kind: 'Ingress', namespace: 'a', name: 'i', uid: 'u' }
  const kept = [{ ...before, apiVersion: 'networking.k8s.io/v1' }]
  expect(verdict(before, object(), { kept })).toBe('forget: moved')
})

test('a definition goes only when nothing of its kind would go with it', () => {
  const { apiVersion, kind, metadata } = widgets
  const definition = { apiVersion, kind, name: metadata.name, uid: 'u' }
  const inside = [{ uid: 'w', what: 'Widget default/w' }]
  expect(verdict(definition, object())).toBe('remove')
  expect(verdict(definition, object(), { inside, going: ['w'] })).toBe('remove')
  expect(verdict(definition, object(), { inside })).toBe('hold: in use')
})

test('a namespace stays for what is in it, and for what an addon wishes there', () => {
  const { apiVersion, kind, metadata } = namespace('n')
  const own = { apiVersion, kind, name: metadata.name, uid: 'u' }
  expect(verdict(own, object())).toBe('remove')
  expect(verdict(own, object(), { inside: [{ uid: undefined, what: 'Secret n/x' }] })).toBe('hold: in use')
  const others = [{ name: 'other', manifests: [configMap('a', 'x', 'n')] }]
  expect(verdict(own, object(), { others })).toBe('hold: in use')
})

test('a person is told of what stays', () => {
  expect(findingOf({ act: 'forget', entry, why: 'found' }, 'mine')).toMatchObject([
    { code: 'ADDON_OBJECT_LEFT', hint: expect.stringContaining('kubectl delete configmap a -n kube-system') },
  ])
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name: 'w.example.org',
  }
  const by = ['Widget a', 'Widget b', 'Widget c', 'Widget d', 'Widget e']
  expect(findingOf({ act: 'hold', entry: definition, why: 'in use', by }, 'mine')).toMatchObject([
    {
      code: 'ADDON_DEFINITION_IN_USE',
      message: expect.stringMatching(/Widget a, Widget b, Widget c and 2 more$/),
    },
  ])
  expect(findingOf({ act: 'forget', entry, why: 'moved' }, 'mine')).toEqual([])
})
