import type { Finding } from '../../contract/finding.ts'
import { describe, type HyperkubeError } from '../../kit/errors.ts'

/** Why hosts do not answer. What that means for the others is decided, and said, by the rollout. */
export function missingFindings(missing: ReadonlyMap<string, HyperkubeError>): Finding[] {
  return [...missing].map(([host, { code, message, hint, cause }]) => ({
    code,
    severity: 'warning',
    message: cause === undefined ? message : `${message}: ${describe(cause)}`,
    ...(hint === undefined ? {} : { hint }),
    host,
  }))
}
