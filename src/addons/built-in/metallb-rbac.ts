import type { Manifest } from '../../kube/object.ts'
import { buildClusterMetadata, rbacGroup } from './manifest-helpers.ts'

export const metallbNamespace = 'metallb-system'
export const controllerApp = 'metallb-controller'
export const speakerApp = 'metallb-speaker'

export function buildMetallbMetadata(name: string, app: string): Manifest['metadata'] {
  return { ...buildClusterMetadata(name, app), namespace: metallbNamespace }
}

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

const core = ['']
const own = ['metallb.io']
const read = ['get', 'list', 'watch']
const write = [...read, 'create', 'update', 'patch', 'delete']
const events: Rule = { apiGroups: core, resources: ['events'], verbs: ['create', 'patch'] }
/** Both programs watch their states in all namespaces. */
const states: Rule = {
  apiGroups: own,
  resources: ['configurationstates', 'configurationstates/status'],
  verbs: write,
}
const settings: Rule = {
  apiGroups: own,
  resources: [
    'bfdprofiles',
    'bgpadvertisements',
    'bgppeers',
    'communities',
    'ipaddresspools',
    'l2advertisements',
  ],
  verbs: read,
}
const ownPods: Rule = { apiGroups: core, resources: ['pods'], verbs: ['get', 'list'] }

/** Permissions of the controller: it gives addresses to Services. */
const controllerRules = {
  cluster: [
    { apiGroups: core, resources: ['services', 'namespaces'], verbs: read },
    { apiGroups: core, resources: ['nodes'], verbs: ['list'] },
    { apiGroups: core, resources: ['services/status'], verbs: ['update'] },
    events,
    states,
  ],
  namespace: [
    ownPods,
    // The controller creates the key of the speakers.
    { apiGroups: core, resources: ['secrets'], verbs: ['create', 'list'] },
    { apiGroups: ['apps'], resources: ['deployments'], resourceNames: [controllerApp], verbs: ['get'] },
    settings,
    { apiGroups: own, resources: ['ipaddresspools/status'], verbs: ['update'] },
  ],
} satisfies Permissions

/** Permissions of the speaker, which runs on every node: it changes nothing but its own reports. */
const speakerRules = {
  cluster: [
    { apiGroups: core, resources: ['services', 'nodes', 'namespaces'], verbs: read },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
    events,
    states,
    { apiGroups: own, resources: ['servicel2statuses', 'servicel2statuses/status'], verbs: write },
  ],
  namespace: [
    ownPods,
    { apiGroups: core, resources: ['secrets', 'configmaps'], verbs: read },
    settings,
    { apiGroups: own, resources: ['servicebgpstatuses', 'servicebgpstatuses/status'], verbs: write },
  ],
} satisfies Permissions

interface Permissions {
  readonly cluster: readonly Rule[]
  readonly namespace: readonly Rule[]
}

/** Builds the service accounts of both programs and their permissions. */
export function buildMetallbRbac(): Manifest[] {
  return [...buildPermissions(controllerApp, controllerRules), ...buildPermissions(speakerApp, speakerRules)]
}

function buildPermissions(app: string, { cluster, namespace }: Permissions): Manifest[] {
  const apiVersion = `${rbacGroup}/v1`
  const clusterWide = buildClusterMetadata(app, app)
  const namespaced = buildMetallbMetadata(app, app)
  const subjects = [{ kind: 'ServiceAccount', name: app, namespace: metallbNamespace }]
  const toRole = (kind: string) => ({ apiGroup: rbacGroup, kind, name: app })
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: namespaced },
    { apiVersion, kind: 'ClusterRole', metadata: clusterWide, rules: cluster },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: clusterWide,
      roleRef: toRole('ClusterRole'),
      subjects,
    },
    { apiVersion, kind: 'Role', metadata: namespaced, rules: namespace },
    { apiVersion, kind: 'RoleBinding', metadata: namespaced, roleRef: toRole('Role'), subjects },
  ]
}
