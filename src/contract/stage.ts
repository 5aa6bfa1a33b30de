import { z } from 'zod'

/**
 * Stages of a plan, in order. A rollout can bring all hosts to one stage before any host continues with the
 * next.
 */
export const stageSchema = z.enum(['prepare', 'etcd', 'api', 'controllers', 'node', 'network'])
export type Stage = z.infer<typeof stageSchema>

export const stages: readonly Stage[] = stageSchema.options

/** Negative if `a` comes before `b`. */
export function compareStages(a: Stage, b: Stage): number {
  return stages.indexOf(a) - stages.indexOf(b)
}
