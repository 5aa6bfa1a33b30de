import { z } from 'zod'
import { isKubeError, KubeError } from './kube-error.ts'
import { type NamespacedName, parseKubeResponse } from './object.ts'
import type { KubeCallOptions } from './request.ts'

/** How objects of a kind are addressed in API paths. */
export interface ApiResource {
  readonly apiVersion: string
  readonly plural: string
  readonly namespaced: boolean
}

/**
 * Kinds that hyperkube and its addons use. Their paths are stable, so discovery is needed only for other
 * kinds.
 */
const knownResources: Readonly<
  Record<string, Readonly<Record<string, readonly [plural: string, scope: Scope]>>>
> = {
  v1: {
    ConfigMap: ['configmaps', 'namespace'],
    Namespace: ['namespaces', 'cluster'],
    Node: ['nodes', 'cluster'],
    PersistentVolume: ['persistentvolumes', 'cluster'],
    PersistentVolumeClaim: ['persistentvolumeclaims', 'namespace'],
    Pod: ['pods', 'namespace'],
    Secret: ['secrets', 'namespace'],
    Service: ['services', 'namespace'],
    ServiceAccount: ['serviceaccounts', 'namespace'],
  },
  'admissionregistration.k8s.io/v1': {
    MutatingAdmissionPolicy: ['mutatingadmissionpolicies', 'cluster'],
    MutatingAdmissionPolicyBinding: ['mutatingadmissionpolicybindings', 'cluster'],
    ValidatingAdmissionPolicy: ['validatingadmissionpolicies', 'cluster'],
    ValidatingAdmissionPolicyBinding: ['validatingadmissionpolicybindings', 'cluster'],
  },
  'apiextensions.k8s.io/v1': { CustomResourceDefinition: ['customresourcedefinitions', 'cluster'] },
  'apiregistration.k8s.io/v1': { APIService: ['apiservices', 'cluster'] },
  'apps/v1': {
    DaemonSet: ['daemonsets', 'namespace'],
    Deployment: ['deployments', 'namespace'],
    ReplicaSet: ['replicasets', 'namespace'],
    StatefulSet: ['statefulsets', 'namespace'],
  },
  'certificates.k8s.io/v1': { CertificateSigningRequest: ['certificatesigningrequests', 'cluster'] },
  'coordination.k8s.io/v1': { Lease: ['leases', 'namespace'] },
  'discovery.k8s.io/v1': { EndpointSlice: ['endpointslices', 'namespace'] },
  'events.k8s.io/v1': { Event: ['events', 'namespace'] },
  'fleet.hyperkube.dev/v1': {
    Approval: ['approvals', 'cluster'],
    Cluster: ['clusters', 'cluster'],
    ClusterSet: ['clustersets', 'cluster'],
    Rollout: ['rollouts', 'cluster'],
  },
  'hyperkube.dev/v1': {
    ClusterStatus: ['clusterstatuses', 'cluster'],
    Host: ['hosts', 'cluster'],
  },
  'networking.k8s.io/v1': {
    Ingress: ['ingresses', 'namespace'],
    IngressClass: ['ingressclasses', 'cluster'],
    NetworkPolicy: ['networkpolicies', 'namespace'],
  },
  'node.k8s.io/v1': { RuntimeClass: ['runtimeclasses', 'cluster'] },
  'policy/v1': { PodDisruptionBudget: ['poddisruptionbudgets', 'namespace'] },
  'rbac.authorization.k8s.io/v1': {
    ClusterRole: ['clusterroles', 'cluster'],
    ClusterRoleBinding: ['clusterrolebindings', 'cluster'],
    Role: ['roles', 'namespace'],
    RoleBinding: ['rolebindings', 'namespace'],
  },
  'storage.k8s.io/v1': { StorageClass: ['storageclasses', 'cluster'] },
}

type Scope = 'cluster' | 'namespace'

export function findKnownResource(apiVersion: string, kind: string): ApiResource | undefined {
  const kinds = Object.hasOwn(knownResources, apiVersion) ? knownResources[apiVersion] : undefined
  const [plural, scope] = (kinds !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined) ?? []
  return plural === undefined ? undefined : { apiVersion, plural, namespaced: scope === 'namespace' }
}

/** Returns the path of an API version. The core group has no name and uses the prefix /api. */
export function versionPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}

/** Returns the API path of a resource, in one namespace or in all namespaces. */
export function collectionPath({ apiVersion, plural, namespaced }: ApiResource, namespace?: string): string {
  if (!namespaced && namespace !== undefined)
    throw buildInvalidError(`${plural} are not namespaced, but namespace ${namespace} is given`)
  const namespaceSegment = namespace === undefined ? '' : `/namespaces/${encodeSegment(namespace)}`
  return `${versionPath(apiVersion)}${namespaceSegment}/${plural}`
}

/** Returns the path of an object. `subresource` is for example status or scale. */
export function objectPath(
  resource: ApiResource,
  { namespace, name }: NamespacedName,
  subresource?: string,
): string {
  if (resource.namespaced && namespace === undefined) {
    throw buildInvalidError(`${resource.plural} are namespaced, but no namespace is given for ${name}`)
  }
  const path = `${collectionPath(resource, namespace)}/${encodeSegment(name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/**
 * Encodes a name for a path and rejects invalid names. With an empty name, a DELETE would remove the whole
 * collection.
 */
function encodeSegment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name)) {
    throw buildInvalidError(`${JSON.stringify(name)} is not a valid object name`)
  }
  return encodeURIComponent(name)
}

function buildInvalidError(message: string): KubeError {
  return new KubeError('KUBE_INVALID', message)
}

const resourceList = z.looseObject({
  resources: z.array(z.looseObject({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
})

const group = z.looseObject({ versions: z.array(z.looseObject({ groupVersion: z.string() })) })

type ResourcesByKind = ReadonlyMap<string, ApiResource>

type FetchJson = (path: string, options: KubeCallOptions) => Promise<unknown>

/**
 * Finds the API resource of each kind. Kinds that were found are cached. Kinds that were not found are looked
 * up again at the next call.
 */
export class Discovery {
  readonly #fetch: FetchJson
  readonly #discovered = new Map<string, ResourcesByKind>()

  constructor(fetch: FetchJson) {
    this.#fetch = fetch
  }

  async resource(
    { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
    options: KubeCallOptions = {},
  ): Promise<ApiResource> {
    const found = findKnownResource(apiVersion, kind) ?? this.#discovered.get(apiVersion)?.get(kind)
    if (found !== undefined) return found
    const byKind = await this.#discover(apiVersion, options)
    this.#discovered.set(apiVersion, byKind)
    const resource = byKind.get(kind)
    if (resource !== undefined) return resource
    throw new KubeError('KUBE_KIND_UNKNOWN', `the cluster has no ${kind} in ${apiVersion}`, {
      hint: 'install the CustomResourceDefinition of this kind first',
    })
  }

  /**
   * Lists the versions of an API group, preferred version first. Empty if the cluster does not serve the
   * group.
   */
  async versions(name: string, { signal, timeout }: KubeCallOptions = {}): Promise<string[]> {
    if (name === '') return ['v1']
    const path = `/apis/${name}`
    try {
      const { versions } = parseKubeResponse(group, await this.#fetch(path, { signal, timeout }), path)
      return versions.map(({ groupVersion }) => groupVersion)
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return []
      throw error
    }
  }

  async #discover(apiVersion: string, { signal, timeout }: KubeCallOptions): Promise<ResourcesByKind> {
    const path = versionPath(apiVersion)
    try {
      const { resources } = parseKubeResponse(
        resourceList,
        await this.#fetch(path, { signal, timeout }),
        path,
      )
      // Names with a slash are subresources, such as pods/log.
      const topLevel = resources.filter(({ name }) => !name.includes('/'))
      return new Map(
        topLevel.map(({ name, kind, namespaced }) => [kind, { apiVersion, plural: name, namespaced }]),
      )
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return new Map()
      throw error
    }
  }
}
