import type { Manifest } from '../kube/object.ts'
import type { PodSettings } from '../spec/addons.ts'

/** Where all of ours is: the one namespace that pod security leaves alone. */
export const namespace = 'kube-system'

/** What tells the pods of an addon from others. */
export function labelsOf(app: string): Record<string, string> {
  return { 'app.kubernetes.io/name': app }
}

export function namespaced(name: string, app: string): Manifest['metadata'] {
  return { name, namespace, labels: labelsOf(app) }
}

/** Of an object that belongs to the whole cluster. */
export function clusterWide(name: string, app: string): Manifest['metadata'] {
  return { name, labels: labelsOf(app) }
}

/** For a pod: neither root, nor any system call that programs do not need. */
export function unprivileged(user: number): Record<string, unknown> {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

/** For a container: it cannot become more than it is, and writes nothing beside its volumes. */
export function locked(...capabilities: readonly string[]): Record<string, unknown> {
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], ...(capabilities.length === 0 ? {} : { add: capabilities }) },
  }
}

type Amounts = Readonly<Record<string, string>>

/** What it gets of a node: as we think, unless the settings say otherwise. */
export function resourcesOf(
  { resources }: PodSettings,
  ours: { readonly requests: Amounts; readonly limits?: Amounts },
): Record<string, unknown> {
  const limits = { ...ours.limits, ...resources.limits }
  return {
    requests: { ...ours.requests, ...resources.requests },
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  }
}

/** Where its pods may be. All of these programs are built for Linux alone. */
export function placement(
  { tolerations, nodeSelector }: PodSettings,
  ours: readonly Readonly<Record<string, unknown>>[],
): Record<string, unknown> {
  return {
    nodeSelector: { 'kubernetes.io/os': 'linux', ...nodeSelector },
    tolerations: tolerations ?? ours,
    priorityClassName: 'system-cluster-critical',
  }
}

/** A cluster may have no other nodes than control planes. */
export const onControlPlanes: readonly Readonly<Record<string, unknown>>[] = [
  { key: 'CriticalAddonsOnly', operator: 'Exists' },
  { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
]

/** Pods of a Deployment on different hosts, as far as there are any. */
export function spread(selector: Readonly<Record<string, string>>): Record<string, unknown> {
  const labelSelector = { matchLabels: selector }
  const topologyKey = 'kubernetes.io/hostname'
  return {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector,
        // Former pods of a rollout are about to go, and do not count.
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
