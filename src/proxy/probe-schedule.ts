import type { Timing } from './timing.ts'
import type { Upstream } from './upstreams.ts'

/** What is under way with a server. */
export interface Dealings {
  readonly lastAsked: number | undefined
  /** How many looks have not ended. */
  readonly asking: number
  /** How long it usually takes to answer, in milliseconds. */
  readonly took: number
  /** Since when a client waits for it, and nobody has heard from it. */
  readonly waitingSince: number | undefined
}

const mostAtOnce = 5

/**
 * Whether to ask a server now whether it is ready, and how long to wait for the answer. Usually that is a matter of time.
 * But while clients wait, time is dear: then it is asked again and again, each time over a connection of its own, until it
 * answers or is given up. One that is slow anyway has too much to do: more questions, and clients that come again, are the
 * last it needs.
 */
export function askNow(
  upstream: Upstream,
  dealings: Dealings,
  now: number,
  timing: Timing,
): { readonly within: number } | undefined {
  const { lastAsked, asking, took } = dealings
  const doubtful = upstream.failures > 0 || owes(dealings, now, timing)
  const urgent = upstream.health !== 'unwell' && doubtful
  const hurry = urgent && took < timing.hurryWithin / 3
  const due = lastAsked === undefined || now - lastAsked >= (hurry ? timing.hurryEvery : timing.askEvery)
  if (!due || asking >= mostAtOnce) return undefined
  return { within: hurry ? timing.hurryWithin : timing.askWithin }
}

/** To a client, or to ourselves. */
function owes({ waitingSince, lastAsked, asking }: Dealings, now: number, timing: Timing): boolean {
  if (waitingSince !== undefined && now - waitingSince >= timing.hurryEvery) return true
  return asking > 0 && lastAsked !== undefined && now - lastAsked >= timing.doubtAfter
}

/** After an answer that took so long. One slow answer is remembered for some quick ones. */
export function usualTime(before: number, took: number): number {
  return Math.max(took, before * 0.8)
}
