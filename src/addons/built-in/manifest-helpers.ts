import type { Manifest } from '../../kube/object.ts'
import type { PodSettings } from '../../spec/addons.ts'

/** Namespace of all built-in addons. It is the only namespace that is exempt from Pod Security. */
export const addonNamespace = 'kube-system'

/** Labels that select the pods of an addon. */
export function buildAppLabels(app: string): Record<string, string> {
  return { 'app.kubernetes.io/name': app }
}

export function buildNamespacedMetadata(name: string, app: string): Manifest['metadata'] {
  return { name, namespace: addonNamespace, labels: buildAppLabels(app) }
}

/** Builds the metadata of a cluster-scoped object. */
export function buildClusterMetadata(name: string, app: string): Manifest['metadata'] {
  return { name, labels: buildAppLabels(app) }
}

interface ClusterRoleRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

export const rbacGroup = 'rbac.authorization.k8s.io'

/** Builds a service account, a cluster role with these rules, and their binding. */
export function buildServiceAccount(
  app: string,
  role: string,
  rules: readonly ClusterRoleRule[],
): Manifest[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: buildNamespacedMetadata(app, app) },
    { apiVersion: `${rbacGroup}/v1`, kind: 'ClusterRole', metadata: buildClusterMetadata(role, app), rules },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: buildClusterMetadata(role, app),
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
      subjects: [buildSubject(app)],
    },
  ]
}

export function buildSubject(app: string): Record<string, string> {
  return { kind: 'ServiceAccount', name: app, namespace: addonNamespace }
}

/** Builds the security context of a pod: not root, and the default seccomp profile. */
export function buildPodSecurity(user: number): Record<string, unknown> {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

/**
 * Builds the security context of a container: no privilege escalation, no writes outside volumes, only the
 * given capabilities.
 */
export function buildContainerSecurity(...capabilities: readonly string[]): Record<string, unknown> {
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], ...(capabilities.length === 0 ? {} : { add: capabilities }) },
  }
}

type ResourceAmounts = Readonly<Record<string, string>>

/** Merges the resources from the settings over the defaults. */
export function buildResources(
  { resources }: PodSettings,
  defaults: { readonly requests: ResourceAmounts; readonly limits?: ResourceAmounts },
): Record<string, unknown> {
  const limits = { ...defaults.limits, ...resources.limits }
  return {
    requests: { ...defaults.requests, ...resources.requests },
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  }
}

interface PlacementDefaults {
  readonly tolerations: readonly Readonly<Record<string, unknown>>[]
  /** Labels of the nodes on which pods may run. Not used if the settings contain a node selector. */
  readonly nodeSelector?: Readonly<Record<string, string>>
}

/** Builds the node selector and tolerations of pods. All built-in addons are Linux programs. */
export function buildPlacement(
  { tolerations, nodeSelector }: PodSettings,
  defaults: PlacementDefaults,
): Record<string, unknown> {
  const selector = Object.keys(nodeSelector).length === 0 ? defaults.nodeSelector : nodeSelector
  return {
    nodeSelector: { 'kubernetes.io/os': 'linux', ...selector },
    tolerations: tolerations ?? defaults.tolerations,
    priorityClassName: 'system-cluster-critical',
  }
}

/**
 * Node selector of addons whose service account could take over the cluster. Root on a node can use the
 * tokens of all pods of that node. These addons run only on control planes, because root on a control plane
 * owns the cluster anyway. A kubelet cannot give its own node this label.
 */
export const controlPlaneSelector: Readonly<Record<string, string>> = {
  'node-role.kubernetes.io/control-plane': '',
}

/** Tolerations that allow pods on control planes, because a cluster may have only control planes. */
export const controlPlaneTolerations: readonly Readonly<Record<string, unknown>>[] = [
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
  { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
]

/** Spreads the pods of a Deployment over hosts, as far as possible. */
export function buildSpreadConstraints(selector: Readonly<Record<string, string>>): Record<string, unknown> {
  const labelSelector = { matchLabels: selector }
  const topologyKey = 'kubernetes.io/hostname'
  return {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector,
        // Only pods of the same ReplicaSet count, because pods of the previous ReplicaSet are about to be
        // deleted.
        matchLabelKeys: ['pod-template-hash'],
      },
    ],
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, podAffinityTerm: { labelSelector, topologyKey } },
        ],
      },
    },
  }
}
