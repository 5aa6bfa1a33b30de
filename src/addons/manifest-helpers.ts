import type { Manifest } from '../kube/object.ts'
import type { PodSettings } from '../spec/addons.ts'

/** Namespace of all built-in addons: the only one that is exempt from pod security. */
export const addonNamespace = 'kube-system'

/** Labels that select the pods of an addon. */
export function buildAppLabels(app: string): Record<string, string> {
  return { 'app.kubernetes.io/name': app }
}

export function buildNamespacedMetadata(name: string, app: string): Manifest['metadata'] {
  return { name, namespace: addonNamespace, labels: buildAppLabels(app) }
}

/** Metadata of a cluster-scoped object. */
export function buildClusterMetadata(name: string, app: string): Manifest['metadata'] {
  return { name, labels: buildAppLabels(app) }
}

/** Pod security context: no root, and only the default system calls. */
export function buildPodSecurity(user: number): Record<string, unknown> {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

/** Container security context: no privilege escalation, and no writes outside volumes. */
export function buildContainerSecurity(...capabilities: readonly string[]): Record<string, unknown> {
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], ...(capabilities.length === 0 ? {} : { add: capabilities }) },
  }
}

type ResourceAmounts = Readonly<Record<string, string>>

/** The default resources, overridden by the settings. */
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

/** Where pods may run. All built-in addons are Linux programs. */
export function buildPlacement(
  { tolerations, nodeSelector }: PodSettings,
  defaults: readonly Readonly<Record<string, unknown>>[],
): Record<string, unknown> {
  return {
    nodeSelector: { 'kubernetes.io/os': 'linux', ...nodeSelector },
    tolerations: tolerations ?? defaults,
    priorityClassName: 'system-cluster-critical',
  }
}

/** A cluster may have only control plane nodes. */
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
        // Pods of the previous ReplicaSet are about to end and do not count.
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
