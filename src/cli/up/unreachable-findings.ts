import type { Finding } from '../../contract/finding.ts'
import { describe, type HyperkubeError } from '../../kit/errors.ts'

/**
 * Why hosts do not answer. What that means for the others is decided, and said, by the rollout; but nothing goes on
 * without a host that is needed, nor while another machine may answer in the place of one of them.
 */
export function missingFindings(
  missing: ReadonlyMap<string, HyperkubeError>,
  needed: ReadonlySet<string> = new Set(),
): Finding[] {
  const findings = [...missing].map(([host, { code, message, hint, cause }]): Finding => ({
    code,
    severity: code === 'SSH_HOST_KEY_CHANGED' || needed.has(host) ? 'error' : 'warning',
    message: cause === undefined ? message : `${message}: ${describe(cause)}`,
    ...(hint === undefined ? {} : { hint }),
    host,
  }))
  const grave = new Set(findings.filter(({ severity }) => severity === 'error').map(({ message }) => message))
  // The same on others is one thing to mend, and is said once.
  return findings.map((one) => (grave.has(one.message) ? { ...one, severity: 'error' } : one))
}
