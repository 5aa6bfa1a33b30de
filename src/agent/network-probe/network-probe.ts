import { setMaxListeners } from 'node:events'
import type { Listening, ListenWish, ProbeResult, ProbeTarget } from '../../contract/network-probe.ts'
import { Listeners } from './listeners.ts'
import { probeTcp } from './probe-tcp.ts'
import { probeUdp } from './probe-udp.ts'

/** What the agent does with those of other hosts. None of it changes its own. */
export interface Peers {
  /** Milliseconds since 1970. */
  now(): number
  listen(wish: ListenWish, gone: AbortSignal): Promise<Listening>
  hush(token: string): Promise<void>
  probe(targets: readonly ProbeTarget[], signal: AbortSignal): Promise<ProbeResult[]>
}

/** How long an answer may take, in milliseconds. */
export interface Patience {
  readonly tcp: number
  readonly udp: number
}

/** A lost SYN is sent again after a second. */
const usual: Patience = { tcp: 2500, udp: 1000 }

/** Enough that five hundred hosts which all keep silent take ten seconds; more would be a burst that loses packets. */
const atOnce = 128

export function hostPeers(patience: Patience = usual): Peers {
  const listeners = new Listeners()
  return {
    now: () => Date.now(),
    listen: async (wish, gone) => listeners.listen(wish, gone),
    hush: async (token) => listeners.hush(token),
    probe: async (targets, signal) => probeAll(targets, patience, signal),
  }
}

async function probeAll(
  targets: readonly ProbeTarget[],
  patience: Patience,
  signal: AbortSignal,
): Promise<ProbeResult[]> {
  const results: ProbeResult[] = []
  const ended = AbortSignal.any([signal])
  setMaxListeners(0, ended)
  // One iterator for all: whoever is free takes the next.
  const queue = targets.entries()
  const work = async (): Promise<void> => {
    for (const [index, target] of queue) {
      const began = performance.now()
      const seen = await probe(target, patience, ended)
      results[index] = { ...seen, milliseconds: Math.round((performance.now() - began) * 10) / 10 }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}

async function probe(
  target: ProbeTarget,
  { tcp, udp }: Patience,
  signal: AbortSignal,
): Promise<Pick<ProbeResult, 'outcome' | 'size'>> {
  return target.protocol === 'tcp'
    ? { outcome: await probeTcp(target, tcp, signal) }
    : probeUdp(target, udp, signal)
}
