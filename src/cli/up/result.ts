import { type Foreseen, planDocument } from '../../lifecycle/plan-document.ts'
import { type EndedRun, outcomeNames } from '../run-with-progress.ts'
import { type TrialEnd, trialEndText } from '../provisional/text.ts'
import { listed } from '../format-text.ts'

export interface UpEnd extends EndedRun {
  readonly cluster: string
  /** Those that are as cluster.yml says now. */
  readonly hosts: readonly string[]
  /** Those that did not answer. */
  readonly leftBehind: readonly string[]
  /** Where it was only shown. */
  readonly foreseen?: Foreseen
  /** What becomes of what was tried. */
  readonly trial?: TrialEnd
}

/** What became of the cluster, for programs; of a dry run what would become of it, as `plan` says it. */
export function upDocument(end: UpEnd): object {
  if (end.foreseen !== undefined) return planDocument(end.foreseen)
  const { code, cluster, changedHosts, leftBehind, trial, ops, seconds, log } = end
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'UpResult',
    cluster,
    outcome: outcomeNames[code],
    changedHosts,
    leftBehind,
    ...(trial === undefined ? {} : { trial }),
    ops,
    seconds,
    ...(log === undefined ? {} : { log }),
  }
}

/** The same for people, who have been told all that went wrong. */
export function upText({ cluster, hosts, leftBehind, trial }: UpEnd): string {
  if (hosts.length === 0) return ''
  const behind =
    leftBehind.length === 0 ? '' : `left behind: ${listed(leftBehind)}; hyperkube up once they answer\n`
  return `${cluster} is up on ${listed(hosts)}\n${behind}${trial === undefined ? '' : trialEndText(trial)}`
}
