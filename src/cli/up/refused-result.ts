import type { Finding } from '../../contract/finding.ts'
import { exitCodes } from '../command.ts'
import type { CommandOutcome } from '../run-with-progress.ts'

/** Builds the result of a run that was refused because of findings. It contains the first error. */
export function buildRefusedResult(findings: readonly Finding[]): CommandOutcome {
  const { code = '', message = '', hint } = findings.find(({ severity }) => severity === 'error') ?? {}
  const failure = { code, message, ...(hint === undefined ? {} : { hint }) }
  return { code: exitCodes.failure, result: { outcome: 'failed', failure } }
}
