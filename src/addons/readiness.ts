import { z } from 'zod'
import type { KubeObject } from '../kube/object.ts'
import { parseGroup } from './reference.ts'

const count = z.int().default(0)

const observedObject = z.looseObject({
  metadata: z.looseObject({ generation: z.int().default(0), deletionTimestamp: z.string().optional() }),
  spec: z
    .looseObject({
      replicas: z.int().default(1),
      updateStrategy: z
        .looseObject({
          type: z.string().optional(),
          rollingUpdate: z.looseObject({ partition: count }).optional(),
        })
        .optional(),
    })
    .default({ replicas: 1 }),
  status: z
    .looseObject({
      phase: z.string().optional(),
      observedGeneration: count,
      replicas: count,
      updatedReplicas: count,
      availableReplicas: count,
      readyReplicas: count,
      desiredNumberScheduled: count,
      updatedNumberScheduled: count,
      numberAvailable: count,
      conditions: z
        .array(
          z.looseObject({
            type: z.string(),
            status: z.string(),
            reason: z.string().optional(),
            message: z.string().optional(),
          }),
        )
        // The API server writes null into a CRD that it has just created.
        .nullish()
        .transform((conditions) => conditions ?? []),
    })
    .prefault({}),
})
type ObservedObject = z.infer<typeof observedObject>
type ReadinessRule = (object: ObservedObject, notReadyCount: number) => string | undefined

const readinessRules: Readonly<Record<string, ReadinessRule>> = {
  'apiextensions.k8s.io/CustomResourceDefinition': (object) =>
    explainFailure(object, 'NamesAccepted') ?? explainMissingCondition(object, 'Established'),
  'apiregistration.k8s.io/APIService': (object) => explainMissingCondition(object, 'Available'),
  '/Namespace': ({ status: { phase } }) =>
    phase === 'Active' ? undefined : `it is ${phase ?? 'not active yet'}`,
  '/PersistentVolumeClaim': ({ status: { phase } }) =>
    phase === 'Bound' ? undefined : 'it has no volume yet',
  'apps/Deployment': checkDeployment,
  'apps/DaemonSet': checkDaemonSet,
  'apps/StatefulSet': checkStatefulSet,
}

/**
 * Returns why an object is not ready, or undefined if it is ready. Objects of kinds without a rule are ready
 * once they exist. A DaemonSet may lack pods on `notReadyCount` nodes.
 */
export function findUnreadyReason(object: KubeObject, notReadyCount = 0): string | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return 'the previous object is still being deleted'
  const kind = `${parseGroup(object.apiVersion)}/${object.kind}`
  const rule = Object.hasOwn(readinessRules, kind) ? readinessRules[kind] : undefined
  return rule?.(observedObject.parse(object), notReadyCount)
}

/** Ready and desired pods of a workload. */
export interface PodCount {
  readonly ready: number
  readonly desired: number
}

/** Counts the pods of a Deployment, DaemonSet or StatefulSet; undefined for other kinds. */
export function countPods(object: KubeObject): PodCount | undefined {
  const kind = `${parseGroup(object.apiVersion)}/${object.kind}`
  if (!workloadKinds.has(kind)) return undefined
  const { spec, status } = observedObject.parse(object)
  if (kind === 'apps/DaemonSet')
    return { ready: status.numberAvailable, desired: status.desiredNumberScheduled }
  const ready = kind === 'apps/Deployment' ? status.availableReplicas : status.readyReplicas
  return { ready, desired: spec.replicas }
}

const workloadKinds = new Set(['apps/Deployment', 'apps/DaemonSet', 'apps/StatefulSet'])

function checkDeployment(object: ObservedObject): string | undefined {
  const { replicas } = object.spec
  const { status } = object
  return (
    explainUnobserved(object) ??
    explainFailure(object, 'ReplicaFailure', 'True') ??
    explainShortage(status.updatedReplicas, replicas, 'replicas are updated') ??
    (status.replicas > status.updatedReplicas
      ? `${status.replicas - status.updatedReplicas} old replicas are still running`
      : undefined) ??
    explainShortage(status.availableReplicas, replicas, 'replicas are available')
  )
}

function checkDaemonSet(object: ObservedObject, notReadyCount: number): string | undefined {
  const { status, spec } = object
  const expected = Math.max(status.desiredNumberScheduled - notReadyCount, 0)
  return (
    explainUnobserved(object) ??
    // With OnDelete the user decides when pods are replaced, so pods of the previous template count too.
    (spec.updateStrategy?.type === 'OnDelete'
      ? undefined
      : explainShortage(status.updatedNumberScheduled, expected, 'nodes have the new pod')) ??
    explainShortage(status.numberAvailable, expected, 'nodes have an available pod')
  )
}

function checkStatefulSet(object: ObservedObject): string | undefined {
  const { status, spec } = object
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0
  return (
    explainUnobserved(object) ??
    (spec.updateStrategy?.type === 'OnDelete'
      ? undefined
      : explainShortage(
          status.updatedReplicas,
          Math.max(spec.replicas - partition, 0),
          'replicas are updated',
        )) ??
    explainShortage(status.readyReplicas, spec.replicas, 'replicas are ready')
  )
}

/**
 * Reports that the controller has not processed the current generation yet. The rest of the status is then
 * outdated.
 */
function explainUnobserved({ metadata, status }: ObservedObject): string | undefined {
  return status.observedGeneration < metadata.generation
    ? 'its controller has not processed it yet'
    : undefined
}

function explainShortage(have: number, expected: number, what: string): string | undefined {
  return have < expected ? `${have} of ${expected} ${what}` : undefined
}

function explainMissingCondition({ status }: ObservedObject, expected: string): string | undefined {
  const condition = status.conditions.find(({ type }) => type === expected)
  if (condition?.status === 'True') return undefined
  return condition?.message ?? condition?.reason ?? `it is not ${expected} yet`
}

/** Returns the message of the condition `expected` if its status is `bad`. */
function explainFailure({ status }: ObservedObject, expected: string, bad = 'False'): string | undefined {
  const condition = status.conditions.find(({ type }) => type === expected)
  return condition?.status === bad ? (condition.message ?? condition.reason ?? expected) : undefined
}
