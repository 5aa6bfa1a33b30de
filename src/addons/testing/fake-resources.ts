import type { TestAnswer } from '../../kit/testing/https-test-server.ts'
import { type Json, jsonOf } from './field-set.ts'

export interface Resource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

export const builtIn: readonly Resource[] = [
  resource('', 'Namespace', 'namespaces', false),
  resource('', 'ConfigMap', 'configmaps'),
  resource('', 'Secret', 'secrets'),
  resource('', 'Service', 'services'),
  resource('', 'ServiceAccount', 'serviceaccounts'),
  resource('', 'Pod', 'pods'),
  resource('', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  resource('apps', 'Deployment', 'deployments'),
  resource('apps', 'DaemonSet', 'daemonsets'),
  resource('apps', 'StatefulSet', 'statefulsets'),
  resource('storage.k8s.io', 'StorageClass', 'storageclasses', false),
  resource('scheduling.k8s.io', 'PriorityClass', 'priorityclasses', false),
  resource('rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles', false),
  resource('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions', false),
]

function resource(group: string, kind: string, plural: string, namespaced = true): Resource {
  return { group, version: 'v1', kind, plural, namespaced }
}

/** Where a request goes. */
export interface Route {
  readonly resource: Resource
  readonly namespace: string | undefined
  readonly name: string | undefined
}

/** The kind that a CustomResourceDefinition defines. */
export function definedBy(definition: Json): Resource {
  const spec = jsonOf(definition['spec'])
  const names = jsonOf(spec['names'])
  return {
    group: String(spec['group']),
    version: 'v1',
    kind: String(names['kind']),
    plural: String(names['plural']),
    namespaced: spec['scope'] === 'Namespaced',
  }
}

/** What is answered to who asks which kinds there are; undefined when something else is asked. */
export function offerOf(resources: readonly Resource[], path: string): TestAnswer | undefined {
  const [, group, version, rest] =
    path === '/api/v1'
      ? ['', '', 'v1']
      : (/^\/apis\/([^/]+)(?:\/([^/]+))?(\/.*)?$/.exec(path) ?? ['', '', '', '/'])
  if (rest !== undefined) return undefined
  const own = resources.filter((one) => one.group === group && one.version === (version ?? 'v1'))
  if (own.length === 0) return { status: 404, text: '404 page not found' }
  if (version === undefined) return { json: { versions: [{ groupVersion: `${group}/v1` }] } }
  return {
    json: { resources: own.map(({ kind, plural, namespaced }) => ({ name: plural, kind, namespaced })) },
  }
}

export function routeOf(resources: readonly Resource[], path: string): Route | undefined {
  const core = /^\/api\/v1\/(.+)$/.exec(path)
  const other = /^\/apis\/([^/]+)\/v1\/(.+)$/.exec(path)
  const group = other?.[1] ?? ''
  const parts = (core?.[1] ?? other?.[2] ?? '').split('/')
  const isWithin = parts[0] === 'namespaces' && parts.length > 2
  const [plural, name] = isWithin ? parts.slice(2) : parts
  const found = resources.find((one) => one.group === group && one.plural === plural)
  return found === undefined
    ? undefined
    : { resource: found, namespace: isWithin ? parts[1] : undefined, name }
}
