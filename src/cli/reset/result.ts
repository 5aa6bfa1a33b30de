import type { ExitCode } from '../command.ts'
import { outcomeNames } from '../reported-run.ts'
import { listed } from '../words.ts'

export interface ResetEnd {
  readonly cluster: string
  /** Those that are as they were before. */
  readonly hosts: readonly string[]
  readonly code: ExitCode
}

export function resetDocument({ cluster, hosts, code }: ResetEnd): object {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'ResetResult', cluster, outcome: outcomeNames[code], hosts }
}

export function resetText({ cluster, hosts }: ResetEnd): string {
  return hosts.length === 0 ? '' : `nothing of ${cluster} is left on ${listed(hosts)}\n`
}
