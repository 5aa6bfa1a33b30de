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
