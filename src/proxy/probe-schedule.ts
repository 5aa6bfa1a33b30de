import type { ProxyTiming } from './timing.ts'
import type { Upstream } from './upstreams.ts'

/** Probe state of a server. */
export interface ProbeState {
  readonly lastProbeAt: number | undefined
  readonly probesInFlight: number
  /** Usual response time in milliseconds. */
  readonly responseTime: number
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

/** True if a client or a probe has waited too long for a response. */
function isResponseOverdue(
  { waitingSince, lastProbeAt, probesInFlight }: ProbeState,
  now: number,
  timing: ProxyTiming,
): boolean {
  if (waitingSince !== undefined && now - waitingSince >= timing.urgentProbeInterval) return true
  return probesInFlight > 0 && lastProbeAt !== undefined && now - lastProbeAt >= timing.slowAfter
}

/** Updates the usual response time. A slow response raises it at once; fast responses lower it gradually. */
export function updateResponseTime(before: number, responseTime: number): number {
  return Math.max(responseTime, before * 0.8)
}
