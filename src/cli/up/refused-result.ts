import type { Finding } from '../../contract/finding.ts'
import { exitCodes } from '../command.ts'
import type { Verdict } from '../run-with-progress.ts'

/** The end of a run that findings forbid: the first of them lends its words. */
export function refused(findings: readonly Finding[]): Verdict {
  const { code = '', message = '', hint } = findings.find(({ severity }) => severity === 'error') ?? {}
  const failure = { code, message, ...(hint === undefined ? {} : { hint }) }
  return { code: exitCodes.failure, result: { outcome: 'failed', failure } }
}
