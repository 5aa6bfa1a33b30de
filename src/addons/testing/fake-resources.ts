import type { TestResponse } from '../../kit/testing/https-test-server.ts'
import { type JsonFields, parseJsonFields } from './field-set.ts'

export interface FakeApiResource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

export const builtInResources: readonly FakeApiResource[] = [
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

function resource(group: string, kind: string, plural: string, namespaced = true): FakeApiResource {
  return { group, version: 'v1', kind, plural, namespaced }
}

/** The resource and object that a request path names. */
export interface ResourceRoute {
  readonly resource: FakeApiResource
  readonly namespace: string | undefined
  readonly name: string | undefined
}

/** Returns the API resource that a CustomResourceDefinition defines. */
export function parseCrdResource(definition: JsonFields): FakeApiResource {
  const spec = parseJsonFields(definition['spec'])
  const names = parseJsonFields(spec['names'])
  return {
    group: String(spec['group']),
    version: 'v1',
    kind: String(names['kind']),
    plural: String(names['plural']),
    namespaced: spec['scope'] === 'Namespaced',
  }
}

/** Builds the response to a discovery request. Returns undefined for other paths. */
export function buildDiscoveryResponse(
  resources: readonly FakeApiResource[],
  path: string,
): TestResponse | undefined {
  const [, group, version, rest] =
    path === '/api/v1'
      ? ['', '', 'v1']
      : (/^\/apis\/([^/]+)(?:\/([^/]+))?(\/.*)?$/.exec(path) ?? ['', '', '', '/'])
  if (rest !== undefined) return undefined
  const matching = resources.filter((one) => one.group === group && one.version === (version ?? 'v1'))
  if (matching.length === 0) return { status: 404, text: '404 page not found' }
  if (version === undefined) return { json: { versions: [{ groupVersion: `${group}/v1` }] } }
  return {
    json: { resources: matching.map(({ kind, plural, namespaced }) => ({ name: plural, kind, namespaced })) },
  }
}

export function parseRoute(resources: readonly FakeApiResource[], path: string): ResourceRoute | undefined {
  const core = /^\/api\/v1\/(.+)$/.exec(path)
  const other = /^\/apis\/([^/]+)\/v1\/(.+)$/.exec(path)
  const group = other?.[1] ?? ''
  const parts = (core?.[1] ?? other?.[2] ?? '').split('/')
  const isInNamespace = parts[0] === 'namespaces' && parts.length > 2
  const [plural, name] = isInNamespace ? parts.slice(2) : parts
  const found = resources.find((one) => one.group === group && one.plural === plural)
  return found === undefined
    ? undefined
    : { resource: found, namespace: isInNamespace ? parts[1] : undefined, name }
}
