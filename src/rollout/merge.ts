import { compareStages } from '../contract/stage.ts'
import { type ApplyStep, isEarly, type Step } from './step.ts'

/**
 * Makes one step of two where nothing is gained by the pause between them: nobody is disturbed, and whoever has the first
 * to do has the second, too. Each host then goes on at its own pace, and is looked at once.
 */
export function merged(steps: readonly Step[]): Step[] {
  return steps.reduce<Step[]>((done, next) => {
    const last = done.at(-1)
    if (last?.what !== 'apply' || next.what !== 'apply' || !mayMerge(last, next)) return [...done, next]
    return [...done.slice(0, -1), { ...next, ...together(last, next) }]
  }, [])
}

function mayMerge(first: ApplyStep, second: ApplyStep): boolean {
  const quiet = ![first, second].some(({ disruptive, drain }) => disruptive || drain)
  const hosts = new Set(second.hosts)
  return (
    quiet &&
    second.before.length === 0 &&
    first.hosts.every((host) => hosts.has(host)) &&
    compareStages(first.stage, second.stage) < 0 &&
    // Between the two our programs get their rights.
    isEarly(first.stage) === isEarly(second.stage) &&
    !first.after.some(({ kind }) => kind === 'etcd-member-promoted')
  )
}

function together(first: ApplyStep, second: ApplyStep): Pick<ApplyStep, 'stages' | 'before' | 'after'> {
  return {
    stages: [...first.stages, ...second.stages],
    before: first.before,
    after: [...first.after, ...second.after],
  }
}
