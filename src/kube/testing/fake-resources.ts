import type { TestResponse } from '../../kit/testing/https-test-server.ts'
import { type JsonFields, parseJsonFields } from './field-set.ts'

export interface FakeResource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
}

/** Kinds that the fake API serves without a CustomResourceDefinition. */
export const builtInResources: readonly FakeResource[] = [
  resource('', 'Namespace', 'namespaces', false),
  resource('', 'Node', 'nodes', false),
  resource('', 'PersistentVolume', 'persistentvolumes', false),
  resource('', 'ConfigMap', 'configmaps'),
  resource('', 'Secret', 'secrets'),
  resource('', 'Service', 'services'),
  resource('', 'ServiceAccount', 'serviceaccounts'),
  resource('', 'Pod', 'pods'),
  resource('', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  resource('apps', 'Deployment', 'deployments'),
  resource('apps', 'DaemonSet', 'daemonsets'),
  resource('apps', 'ReplicaSet', 'replicasets'),
  resource('apps', 'StatefulSet', 'statefulsets'),
  resource('apiregistration.k8s.io', 'APIService', 'apiservices', false),
  resource('admissionregistration.k8s.io', 'MutatingAdmissionPolicy', 'mutatingadmissionpolicies', false),
  resource(
    'admissionregistration.k8s.io',
    'MutatingAdmissionPolicyBinding',
    'mutatingadmissionpolicybindings',
    false,
  ),
  resource('admissionregistration.k8s.io', 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false),
  resource(
    'admissionregistration.k8s.io',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    false,
  ),
  resource('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions', false),
  resource('certificates.k8s.io', 'CertificateSigningRequest', 'certificatesigningrequests', false),
  resource('coordination.k8s.io', 'Lease', 'leases'),
  resource('discovery.k8s.io', 'EndpointSlice', 'endpointslices'),
  resource('events.k8s.io', 'Event', 'events'),
  resource('hyperkube.dev', 'ClusterStatus', 'clusterstatuses', false),
  resource('hyperkube.dev', 'Host', 'hosts', false),
  resource('networking.k8s.io', 'IngressClass', 'ingressclasses', false),
  resource('node.k8s.io', 'RuntimeClass', 'runtimeclasses', false),
  resource('policy', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  resource('rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles', false),
  resource('rbac.authorization.k8s.io', 'ClusterRoleBinding', 'clusterrolebindings', false),
  resource('rbac.authorization.k8s.io', 'Role', 'roles'),
  resource('rbac.authorization.k8s.io', 'RoleBinding', 'rolebindings'),
  resource('scheduling.k8s.io', 'PriorityClass', 'priorityclasses', false),
  resource('storage.k8s.io', 'StorageClass', 'storageclasses', false),
]

function resource(group: string, kind: string, plural: string, namespaced = true): FakeResource {
  return { group, version: 'v1', kind, plural, namespaced }
}

/** Returns the API resource that a CustomResourceDefinition defines. */
export function parseCrdResource(definition: JsonFields): FakeResource {
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
  resources: readonly FakeResource[],
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

/** What a request path names: a collection, an object (`name`) or a part of an object (`subresource`). */
export interface ResourceRoute {
  readonly resource: FakeResource
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string
}

const pathPattern =
  /^\/(?:api|apis\/(?<group>[^/]+))\/v1(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/

export function parseRoute(resources: readonly FakeResource[], path: string): ResourceRoute | undefined {
  const { group = '', namespace, plural, name, subresource = '' } = pathPattern.exec(path)?.groups ?? {}
  const found = resources.find((one) => one.group === group && one.plural === plural)
  if (found === undefined) return undefined
  return {
    resource: found,
    namespace,
    name: name === undefined ? undefined : decodeURIComponent(name),
    subresource,
  }
}

/** Returns the key of an object in the fake API. All versions of a group show the same object. */
export function formatRouteKey({
  resource: { group, plural },
  namespace = '',
  name = '',
}: ResourceRoute): string {
  return `${group}/${plural}/${namespace}/${name}`
}
