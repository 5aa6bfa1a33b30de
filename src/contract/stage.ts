import { z } from 'zod'

/**
 * How far a host has come. A host is taken through its plan stage by stage, so that all hosts can be brought to one
 * before any goes on to the next.
 */
export const stage = z.enum(['prepare', 'etcd', 'api', 'controllers', 'node', 'network'])
export type Stage = z.infer<typeof stage>

export const stages: readonly Stage[] = stage.options

/** Below zero when `a` comes before `b`. */
export function compareStages(a: Stage, b: Stage): number {
  return stages.indexOf(a) - stages.indexOf(b)
}
