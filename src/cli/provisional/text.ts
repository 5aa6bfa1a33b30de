import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import type { PlannedTrial } from '../../lifecycle/auto-rollback/plan-provisional.ts'
import { instant } from '../../lifecycle/auto-rollback/provisional-changes.ts'
import { alike, listed } from '../format-text.ts'

/** What becomes of what was tried, as far as it is known when the command ends. */
export interface TrialEnd {
  readonly state: 'on-trial' | 'kept' | 'goes-back'
  /** When the first host goes back, or would have. */
  readonly until: string
}

/** Beside what will be done: until when it is on trial, and what going back costs. */
export function trialText({ time, groups, back }: PlannedTrial): string {
  const order = listed(groups.map((group) => group.join('+')))
  const costs = alike([...back], ([, ops]) =>
    listed(
      ops
        .filter(({ action }) => action === 'restart' || action === 'stop')
        .map(({ name }) => name.replace(/\.service$/, '')),
    ),
  )
    .filter(([services]) => services !== '')
    .map(([services, hosts]) => `${services} on ${listed(hosts.map(([host]) => host))}`)
  const restarts = costs.length === 0 ? 'restarts nothing' : `restarts ${costs.join('; ')}`
  return printable(
    `on trial until ${duration(time)} after the last of it: unless it is kept, hosts go back one after the other (${order}), which ${restarts}\n`,
  )
}

/** It was cut in the middle. */
export function unfinishedText({ time }: PlannedTrial, begun: Date): string {
  const until = untilText(new Date(begun.getTime() + time))
  return `what was done of it is on trial: hosts go back by themselves from ${until} on; the same command goes on with it, hyperkube trial back goes back now\n`
}

/** The last word. */
export function trialEndText({ state, until }: TrialEnd): string {
  switch (state) {
    case 'kept':
      return 'it is kept\n'
    case 'goes-back':
      return 'hosts go back by themselves now, one after the other; hyperkube status says how far they are\n'
    default:
      return `on trial until ${until}: hyperkube trial keep keeps it; otherwise hosts go back by themselves, one after the other\n`
  }
}

export function untilText(time: Date): string {
  return instant(time.toISOString())
}
