import { type EndedRun, outcomeNames } from '../reported-run.ts'
import { listed } from '../words.ts'

export interface UpEnd extends EndedRun {
  readonly cluster: string
  /** Those that are as cluster.yml says now. */
  readonly hosts: readonly string[]
  /** Those that did not answer. */
  readonly leftBehind: readonly string[]
}

/** What became of the cluster, for programs. */
export function upDocument({ code, cluster, changedHosts, leftBehind, ops, seconds, log }: UpEnd): object {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'UpResult',
    cluster,
    outcome: outcomeNames[code],
    changedHosts,
    leftBehind,
    ops,
    seconds,
    ...(log === undefined ? {} : { log }),
  }
}

/** The same for people, who have been told all that went wrong. */
export function upText({ cluster, hosts, leftBehind }: UpEnd): string {
  if (hosts.length === 0) return ''
  const behind =
    leftBehind.length === 0 ? '' : `left behind: ${listed(leftBehind)}; hyperkube up once they answer\n`
  return `${cluster} is up on ${listed(hosts)}\n${behind}`
}
