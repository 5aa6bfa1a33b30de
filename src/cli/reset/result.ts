import type { ExitCode } from '../command.ts'
import { outcomeNames } from '../run-with-progress.ts'
import { listed } from '../format-text.ts'

export interface ResetEnd {
  readonly cluster: string
  /** Those that are as they were before. */
  readonly hosts: readonly string[]
  readonly code: ExitCode
  /** Where pods may have kept data of theirs, which stays. */
  readonly volumes: string | undefined
}

export function resetDocument({ cluster, hosts, code }: ResetEnd): object {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'ResetResult', cluster, outcome: outcomeNames[code], hosts }
}

export function resetText({ cluster, hosts, volumes }: ResetEnd): string {
  if (hosts.length === 0) return ''
  const data = volumes === undefined ? '' : `volumes of pods, where there were any, stay in ${volumes}\n`
  return `nothing of ${cluster} is left on ${listed(hosts)}\n${data}`
}
