import { expect, test } from 'vitest'
import { referenceOf } from './reference.ts'
import { configMap, deployment, namespace, widget, widgets } from './testing/manifests.ts'
import { inWaves } from './waves.ts'

const of = (apiVersion: string, kind: string) => ({
  apiVersion,
  kind,
  metadata: { name: kind.toLowerCase() },
})

test('what others need comes before them, and what an addon defines itself last', () => {
  const manifests = [
    widget('w'),
    of('apiregistration.k8s.io/v1', 'APIService'),
    deployment('d', 1),
    of('cert-manager.io/v1', 'Certificate'),
    of('v1', 'PersistentVolumeClaim'),
    configMap('c'),
    of('storage.k8s.io/v1', 'StorageClass'),
    of('rbac.authorization.k8s.io/v1', 'ClusterRole'),
    of('scheduling.k8s.io/v1', 'PriorityClass'),
    namespace('n'),
    widgets,
  ]
  expect(inWaves(manifests, referenceOf).map((wave) => wave.map(({ kind }) => kind))).toEqual([
    ['CustomResourceDefinition'],
    ['PriorityClass', 'Namespace'],
    ['ClusterRole'],
    ['ConfigMap', 'StorageClass'],
    ['Deployment', 'Certificate', 'PersistentVolumeClaim'],
    ['APIService'],
    ['Widget'],
  ])
})

test('a kind of the same name in another group is another kind', () => {
  const waves = inWaves([of('example.org/v1', 'Namespace'), namespace('n')], referenceOf)
  expect(waves.map(([first]) => first?.apiVersion)).toEqual(['v1', 'example.org/v1'])
})

test('of custom resources whose definition somebody else brings nothing is known', () => {
  expect(inWaves([widget('w'), deployment('d', 1)], referenceOf)).toHaveLength(1)
})
