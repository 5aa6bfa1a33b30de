import type { Finding } from '../../contract/finding.ts'
import { formatError, type HyperkubeError } from '../../kit/errors.ts'

/**
 * Builds findings that explain why hosts are unreachable. A finding is an error if the host is needed or its
 * ssh host key is refused; otherwise it is a warning.
 */
export function buildUnreachableFindings(
  unreachable: ReadonlyMap<string, HyperkubeError>,
  needed: ReadonlySet<string> = new Set(),
): Finding[] {
  const findings = [...unreachable].map(([host, { code, message, hint, cause }]): Finding => ({
    code,
    severity: code.startsWith('SSH_HOST_KEY_') || needed.has(host) ? 'error' : 'warning',
    message: cause === undefined ? message : `${message}: ${formatError(cause)}`,
    ...(hint === undefined ? {} : { hint }),
    host,
  }))
  const errorMessages = new Set(
    findings.filter(({ severity }) => severity === 'error').map(({ message }) => message),
  )
  // Equal messages get the same severity, so that the findings are combined and the message is shown once.
  return findings.map((one) => (errorMessages.has(one.message) ? { ...one, severity: 'error' } : one))
}
