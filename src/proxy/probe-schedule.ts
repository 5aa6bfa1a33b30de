import type { ProxyTiming } from './timing.ts'
import type { Upstream } from './upstreams.ts'

/** Probe state of a server. */
export interface ProbeState {
  readonly lastProbeAt: number | undefined
  /** Number of probes in flight. */
  readonly probesInFlight: number
  /** Usual response time in milliseconds. */
  readonly responseTime: number
  /** Since when a client waits for the server without receiving data. */
  readonly waitingSince: number | undefined
}

const maxConcurrentProbes = 5

/**
 * Decides whether to probe a server now, and with which timeout. Usually the interval decides. While clients
 * wait, the server is probed in quick succession over separate connections until it responds or is unhealthy.
 * A server that is slow anyway is overloaded and gets no extra probes.
 */
export function decideProbe(
  upstream: Upstream,
  state: ProbeState,
  now: number,
  timing: ProxyTiming,
): { readonly timeoutMs: number } | undefined {
  const { lastProbeAt, probesInFlight, responseTime } = state
  const doubtful = upstream.failures > 0 || isResponseOverdue(state, now, timing)
  const urgent = upstream.health !== 'unhealthy' && doubtful
  const useUrgentTiming = urgent && responseTime < timing.urgentProbeTimeout / 3
  const due =
    lastProbeAt === undefined ||
    now - lastProbeAt >= (useUrgentTiming ? timing.urgentProbeInterval : timing.probeInterval)
  if (!due || probesInFlight >= maxConcurrentProbes) return undefined
  return { timeoutMs: useUrgentTiming ? timing.urgentProbeTimeout : timing.probeTimeout }
}

/** Whether a client or one of our probes waits for a response. */
function isResponseOverdue(
  { waitingSince, lastProbeAt, probesInFlight }: ProbeState,
  now: number,
  timing: ProxyTiming,
): boolean {
  if (waitingSince !== undefined && now - waitingSince >= timing.urgentProbeInterval) return true
  return probesInFlight > 0 && lastProbeAt !== undefined && now - lastProbeAt >= timing.slowAfter
}

/** Updates the usual response time. One slow response outweighs several fast ones. */
export function updateResponseTime(before: number, responseTime: number): number {
  return Math.max(responseTime, before * 0.8)
}
