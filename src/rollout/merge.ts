import { compareStages } from '../contract/stage.ts'
import { type ApplyStep, isBeforeApi, type RolloutStep } from './step.ts'

/**
 * Merges two steps if nothing is disrupted and every host of the first step is also in the second. Each host
 * then continues at its own speed and is observed once.
 */
export function mergeSteps(steps: readonly RolloutStep[]): RolloutStep[] {
  return steps.reduce<RolloutStep[]>((result, next) => {
    const last = result.at(-1)
    if (last?.kind !== 'apply' || next.kind !== 'apply' || !canMerge(last, next)) return [...result, next]
    return [...result.slice(0, -1), { ...next, ...mergePair(last, next) }]
  }, [])
}

function canMerge(first: ApplyStep, second: ApplyStep): boolean {
  const undisrupted = ![first, second].some(({ disruptive, drain }) => disruptive || drain)
  const hosts = new Set(second.hosts)
  return (
    undisrupted &&
    second.before.length === 0 &&
    first.hosts.every((host) => hosts.has(host)) &&
    compareStages(first.stage, second.stage) < 0 &&
    // Between early and late stages hyperkube applies the RBAC rules of its programs.
    isBeforeApi(first.stage) === isBeforeApi(second.stage) &&
    !first.after.some(({ kind }) => kind === 'etcd-member-promoted')
  )
}

function mergePair(first: ApplyStep, second: ApplyStep): Pick<ApplyStep, 'stages' | 'before' | 'after'> {
  return {
    stages: [...first.stages, ...second.stages],
    before: first.before,
    after: [...first.after, ...second.after],
  }
}
