import { expect, test } from 'vitest'
import { toReference } from './reference.ts'
import {
  buildConfigMap,
  buildDeployment,
  buildNamespace,
  buildWidget,
  widgetCrd,
} from './testing/manifests.ts'
import { groupIntoWaves } from './waves.ts'

const buildManifest = (apiVersion: string, kind: string) => ({
  apiVersion,
  kind,
  metadata: { name: kind.toLowerCase() },
})

test('prerequisites are in earlier waves, and custom resources of the addon in the last wave', () => {
  const manifests = [
    buildWidget('w'),
    buildManifest('apiregistration.k8s.io/v1', 'APIService'),
    buildDeployment('d', 1),
    buildManifest('cert-manager.io/v1', 'Certificate'),
    buildManifest('v1', 'PersistentVolumeClaim'),
    buildConfigMap('c'),
    buildManifest('storage.k8s.io/v1', 'StorageClass'),
    buildManifest('rbac.authorization.k8s.io/v1', 'ClusterRole'),
    buildManifest('scheduling.k8s.io/v1', 'PriorityClass'),
    buildNamespace('n'),
    widgetCrd,
  ]
  expect(groupIntoWaves(manifests, toReference).map((wave) => wave.map(({ kind }) => kind))).toEqual([
    ['CustomResourceDefinition'],
    ['PriorityClass', 'Namespace'],
    ['ClusterRole'],
    ['ConfigMap', 'StorageClass'],
    ['Deployment', 'Certificate', 'PersistentVolumeClaim'],
    ['APIService'],
    ['Widget'],
  ])
})

test('a kind of the same name in another API group is another kind', () => {
  const waves = groupIntoWaves(
    [buildManifest('example.org/v1', 'Namespace'), buildNamespace('n')],
    toReference,
  )
  expect(waves.map(([first]) => first?.apiVersion)).toEqual(['v1', 'example.org/v1'])
})

test('custom resources whose CRD is not part of the addon are workloads', () => {
  expect(groupIntoWaves([buildWidget('w'), buildDeployment('d', 1)], toReference)).toHaveLength(1)
})
