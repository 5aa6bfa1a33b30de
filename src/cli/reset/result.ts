import type { ExitCode } from '../command.ts'
import { resultNames } from '../run-with-progress.ts'
import { joinNames } from '../format-text.ts'

export interface ResetCommandResult {
  readonly cluster: string
  /** Hosts from which everything was removed. */
  readonly hosts: readonly string[]
  readonly code: ExitCode
  /** Directory where data of pods may remain. */
  readonly volumes: string | undefined
}

export function buildResetDocument({ cluster, hosts, code }: ResetCommandResult): object {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'ResetResult', cluster, outcome: resultNames[code], hosts }
}

export function formatResetResult({ cluster, hosts, volumes }: ResetCommandResult): string {
  if (hosts.length === 0) return ''
  const data = volumes === undefined ? '' : `volumes of pods, where there were any, stay in ${volumes}\n`
  return `nothing of ${cluster} is left on ${joinNames(hosts)}\n${data}`
}
