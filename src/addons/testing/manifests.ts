import type { Manifest } from '../../kube/object.ts'

export function buildConfigMap(name: string, word = 'one', inNamespace = 'kube-system'): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: inNamespace }, data: { word } }
}

export function buildSecret(name: string, word: string): Manifest {
  const data = { word: Buffer.from(word).toString('base64') }
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'kube-system' }, data }
}

export function buildNamespace(name: string): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

export function buildDeployment(name: string, replicas: number, inNamespace = 'kube-system'): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: inNamespace },
    spec: { replicas, selector: { matchLabels: { app: name } } },
  }
}

export const widgetCrd: Manifest = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [{ name: 'v1', served: true }],
  },
}

export function buildWidget(name: string, size = 1): Manifest {
  return {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'default' },
    spec: { size },
  }
}
