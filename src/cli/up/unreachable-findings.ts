import type { Finding } from '../../contract/finding.ts'
import { formatError, type HyperkubeError } from '../../kit/errors.ts'

/**
 * Explains why hosts are unreachable. The rollout decides and reports what that means for the others. Errors
 * are hosts that are needed, and hosts in whose place another machine may answer.
 */
export function buildUnreachableFindings(
  unreachable: ReadonlyMap<string, HyperkubeError>,
  needed: ReadonlySet<string> = new Set(),
): Finding[] {
  const findings = [...unreachable].map(([host, { code, message, hint, cause }]): Finding => ({
    code,
    severity: code === 'SSH_HOST_KEY_CHANGED' || needed.has(host) ? 'error' : 'warning',
    message: cause === undefined ? message : `${message}: ${formatError(cause)}`,
    ...(hint === undefined ? {} : { hint }),
    host,
  }))
  const errorMessages = new Set(
    findings.filter(({ severity }) => severity === 'error').map(({ message }) => message),
  )
  // The same message on other hosts is one problem and is shown once.
  return findings.map((one) => (errorMessages.has(one.message) ? { ...one, severity: 'error' } : one))
}
