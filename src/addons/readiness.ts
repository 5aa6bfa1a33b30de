import { z } from 'zod'
import type { KubeObject } from '../kube/object.ts'
import { groupOf } from './reference.ts'

const count = z.int().default(0)

const shape = z.looseObject({
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
        .default([]),
    })
    .prefault({}),
})
type Shape = z.infer<typeof shape>
type Rule = (object: Shape, away: number) => string | undefined

const rules: Readonly<Record<string, Rule>> = {
  'apiextensions.k8s.io/CustomResourceDefinition': (object) =>
    refusal(object, 'NamesAccepted') ?? lacksCondition(object, 'Established'),
  'apiregistration.k8s.io/APIService': (object) => lacksCondition(object, 'Available'),
  '/Namespace': ({ status: { phase } }) =>
    phase === 'Active' ? undefined : `it is ${phase ?? 'not active yet'}`,
  '/PersistentVolumeClaim': ({ status: { phase } }) =>
    phase === 'Bound' ? undefined : 'it has no volume yet',
  'apps/Deployment': deployment,
  'apps/DaemonSet': daemonSet,
  'apps/StatefulSet': statefulSet,
}

/**
 * Why an object does not do yet what it is for; undefined when it does. Of kinds without a rule it is enough to be there,
 * and nobody waits for nodes that are away.
 */
export function unready(object: KubeObject, away = 0): string | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return 'the former one is still being removed'
  const kind = `${groupOf(object.apiVersion)}/${object.kind}`
  const rule = Object.hasOwn(rules, kind) ? rules[kind] : undefined
  return rule?.(shape.parse(object), away)
}

function deployment(object: Shape): string | undefined {
  const { replicas } = object.spec
  const { status } = object
  return (
    unseen(object) ??
    refusal(object, 'ReplicaFailure', 'True') ??
    fewer(status.updatedReplicas, replicas, 'replicas are updated') ??
    (status.replicas > status.updatedReplicas
      ? `${status.replicas - status.updatedReplicas} former replicas have not ended`
      : undefined) ??
    fewer(status.availableReplicas, replicas, 'replicas are available')
  )
}

function daemonSet(object: Shape, away: number): string | undefined {
  const { status, spec } = object
  const wanted = Math.max(status.desiredNumberScheduled - away, 0)
  return (
    unseen(object) ??
    // Somebody else decides when its pods are replaced.
    (spec.updateStrategy?.type === 'OnDelete'
      ? undefined
      : fewer(status.updatedNumberScheduled, wanted, 'nodes have the new pod')) ??
    fewer(status.numberAvailable, wanted, 'nodes have it available')
  )
}

function statefulSet(object: Shape): string | undefined {
  const { status, spec } = object
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0
  return (
    unseen(object) ??
    (spec.updateStrategy?.type === 'OnDelete'
      ? undefined
      : fewer(status.updatedReplicas, Math.max(spec.replicas - partition, 0), 'replicas are updated')) ??
    fewer(status.readyReplicas, spec.replicas, 'replicas are ready')
  )
}

/** What is said of an older generation says nothing of this one. */
function unseen({ metadata, status }: Shape): string | undefined {
  return status.observedGeneration < metadata.generation ? 'its controller has not seen it yet' : undefined
}

function fewer(have: number, wanted: number, what: string): string | undefined {
  return have < wanted ? `${have} of ${wanted} ${what}` : undefined
}

function lacksCondition({ status }: Shape, wanted: string): string | undefined {
  const condition = status.conditions.find(({ type }) => type === wanted)
  if (condition?.status === 'True') return undefined
  return condition?.message ?? condition?.reason ?? `it is not ${wanted} yet`
}

/** A condition that says that it cannot be done. */
function refusal({ status }: Shape, wanted: string, bad = 'False'): string | undefined {
  const condition = status.conditions.find(({ type }) => type === wanted)
  return condition?.status === bad ? (condition.message ?? condition.reason ?? wanted) : undefined
}
