import { type PlannedChanges, buildPlanDocument } from '../../lifecycle/plan-document.ts'
import { type RunSummary, resultNames } from '../run-with-progress.ts'
import { type ProvisionalEnd, formatProvisionalEnd } from '../provisional/text.ts'
import { joinNames } from '../format-text.ts'

export interface UpResult extends RunSummary {
  readonly cluster: string
  /** Hosts that match cluster.yml now. */
  readonly hosts: readonly string[]
  /** Hosts that were unreachable. */
  readonly leftBehind: readonly string[]
  /** Planned changes of a dry run. */
  readonly plannedChanges?: PlannedChanges
  /** State of the provisional change. */
  readonly provisional?: ProvisionalEnd
}

/** Builds the result for programs; for a dry run this is the plan document. */
export function buildUpDocument(result: UpResult): object {
  if (result.plannedChanges !== undefined) return buildPlanDocument(result.plannedChanges)
  const { code, cluster, changedHosts, leftBehind, provisional, ops, seconds, log } = result
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'UpResult',
    cluster,
    outcome: resultNames[code],
    changedHosts,
    leftBehind,
    ...(provisional === undefined ? {} : { provisional }),
    ops,
    seconds,
    ...(log === undefined ? {} : { log }),
  }
}

/** Formats the result for people. Errors are not repeated, because they were already printed. */
export function formatUpResult({ cluster, hosts, leftBehind, provisional }: UpResult): string {
  if (hosts.length === 0) return ''
  const skippedText =
    leftBehind.length === 0 ? '' : `left behind: ${joinNames(leftBehind)}; hyperkube up once they answer\n`
  return `${cluster} is up on ${joinNames(hosts)}\n${skippedText}${provisional === undefined ? '' : formatProvisionalEnd(provisional)}`
}
