import { formatError } from '../kit/errors.ts'
import { httpGet, HttpGetTimeout } from './http-get.ts'
import type { ServerAgents } from './server-agents.ts'
import type { UpstreamObservation } from './upstreams.ts'

/**
 * Probes whether a server is ready. If `authenticated`, the probe sends the proxy's client certificate. Most
 * servers also respond to anonymous probes and then need not verify a certificate every second.
 */
export async function probeReadiness(
  agents: ServerAgents,
  server: string,
  authenticated: boolean,
  timeoutMs: number,
): Promise<UpstreamObservation> {
  const agent = authenticated ? (agents.authenticated ?? agents.anonymous) : agents.anonymous
  try {
    const { status, text } = await httpGet({ agent, server, path: '/readyz', timeoutMs, maxBytes: 100_000 })
    return parseReadyz(status, text)
  } catch (error) {
    return error instanceof HttpGetTimeout ? { kind: 'silent', reason: error.message } : classifyError(error)
  }
}

/**
 * Converts a response of /readyz to an observation. The response text lists the failed checks, one per line.
 */
export function parseReadyz(status: number, text: string): UpstreamObservation {
  if (status === 200) return { kind: 'ready' }
  if (status === 401 || status === 403) return { kind: 'unclear', reason: `rejects the probe: ${status}` }
  const checks = [...text.matchAll(/^\[-\](\S+)/gm)].map(([, name]) => name)
  const failedChecks = checks.length === 0 ? '' : `: ${checks.slice(0, 5).join(', ')}`
  const kind = checks.includes('shutdown') ? 'draining' : 'unready'
  return { kind, reason: `answers ${status}${failedChecks}` }
}

/**
 * Classifies a connection error. System errors mean that the server is unreachable. Other errors, for example
 * of TLS, mean that it is not an API server of this cluster.
 */
export function classifyError(error: unknown): UpstreamObservation {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isSystemError = /^E[A-Z]+$/.test(code) && code !== 'EPROTO'
  return { kind: isSystemError ? 'refused' : 'untrusted', reason: formatError(error) }
}
