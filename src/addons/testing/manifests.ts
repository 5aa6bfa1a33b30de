import type { Manifest } from '../../kube/object.ts'

/** Objects of several waves, as short as they can be. */
export function configMap(name: string, word = 'one', where = 'kube-system'): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: where }, data: { word } }
}

export function secret(name: string, word: string): Manifest {
  const data = { word: Buffer.from(word).toString('base64') }
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'kube-system' }, data }
}

export function namespace(name: string): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

export function deployment(name: string, replicas: number, where = 'kube-system'): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: where },
    spec: { replicas, selector: { matchLabels: { app: name } } },
  }
}

export const widgets: Manifest = {
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

export function widget(name: string, size = 1): Manifest {
  return {
    apiVersion: 'example.org/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'default' },
    spec: { size },
  }
}
