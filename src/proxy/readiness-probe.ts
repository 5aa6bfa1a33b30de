import { formatError } from '../kit/errors.ts'
import { httpGet, HttpGetTimeout, type ServerAgents } from './server-requests.ts'
import type { ProxyTiming } from './timing.ts'
import { unhealthyAfterFailures, type Upstream, type UpstreamObservation } from './upstreams.ts'

/**
 * Probes whether a server is ready. If `authenticated`, the probe sends the proxy's client certificate.
 * Anonymous probes are preferred, because the server then need not verify a certificate every second.
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

/** Probe state of a server. */
export interface ProbeState {
  readonly lastProbeAt: number | undefined
  readonly probesInFlight: number
  /** Since when a client waits for data from the server; undefined if no client waits. */
  readonly waitingSince: number | undefined
}

const maxConcurrentProbes = 5

/**
 * Decides whether to probe a server now, and with which timeout. Usually the probe interval decides. While
 * clients wait, the server is probed in quick succession until it responds or is unhealthy. A server that is
 * always slow gets no extra probes, because it is overloaded.
 */
export function decideProbe(
  upstream: Upstream,
  state: ProbeState,
  now: number,
  timing: ProxyTiming,
): { readonly timeoutMs: number } | undefined {
  const { lastProbeAt, probesInFlight } = state
  const doubtful = upstream.failures > 0 || isResponseOverdue(state, now, timing)
  const urgent = upstream.health !== 'unhealthy' && doubtful
  const useUrgentTiming = urgent && upstream.responseTime < timing.urgentProbeTimeout / 3
  const due =
    lastProbeAt === undefined ||
    now - lastProbeAt >= (useUrgentTiming ? timing.urgentProbeInterval : timing.probeInterval)
  if (!due || probesInFlight >= maxConcurrentProbes) return undefined
  return {
    timeoutMs: useUrgentTiming ? timing.urgentProbeTimeout : computeProbeTimeout(upstream, timing),
  }
}

/**
 * Computes the timeout of a probe that is not urgent. It grows with the response time and with the failures of
 * an unhealthy server. A fixed timeout would keep an overloaded server unhealthy forever, because each probe
 * that times out costs the server another TLS handshake.
 */
function computeProbeTimeout({ failures, responseTime }: Upstream, timing: ProxyTiming): number {
  const doublings = Math.max(0, failures - unhealthyAfterFailures)
  const wanted = Math.max(timing.probeTimeout * 2 ** doublings, 2 * responseTime)
  return Math.max(timing.probeTimeout, Math.min(wanted, timing.maxProbeTimeout))
}

/** True if a client or a probe has waited too long for a response. */
function isResponseOverdue(
  { waitingSince, lastProbeAt, probesInFlight }: ProbeState,
  now: number,
  timing: ProxyTiming,
): boolean {
  if (waitingSince !== undefined && now - waitingSince >= timing.urgentProbeInterval) return true
  return probesInFlight > 0 && lastProbeAt !== undefined && now - lastProbeAt >= timing.slowAfter
}
