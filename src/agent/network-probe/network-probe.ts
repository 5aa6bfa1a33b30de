import { setMaxListeners } from 'node:events'
import type {
  Listening,
  ListenSpec,
  NetworkProbeResult,
  NetworkProbeTarget,
} from '../../contract/network-probe.ts'
import { Listeners } from './listeners.ts'
import { probeTcp, probeUdp } from './port-probes.ts'

/**
 * Network probes between hosts. They change nothing on the host, except that ports are open for a short time.
 */
export interface NetworkProbe {
  /** Returns the clock of this host, in milliseconds since 1970. */
  now(): number
  listen(spec: ListenSpec, disconnected: AbortSignal): Promise<Listening>
  stopListening(token: string): Promise<void>
  probe(targets: readonly NetworkProbeTarget[], signal: AbortSignal): Promise<NetworkProbeResult[]>
}

/** Timeouts of one probe, in milliseconds. */
export interface ProbeTimeouts {
  readonly tcpMs: number
  readonly udpMs: number
}

/**
 * If the first SYN is lost, a second one is sent after one second. The TCP timeout leaves time for the second
 * one.
 */
const defaultTimeouts: ProbeTimeouts = { tcpMs: 2500, udpMs: 1000 }

/**
 * Maximum number of parallel probes. With this number 500 hosts that do not respond take ten seconds. A
 * larger burst could lose packets.
 */
const maxParallel = 128

export function createNetworkProbe(timeouts: ProbeTimeouts = defaultTimeouts): NetworkProbe {
  const listeners = new Listeners()
  return {
    now: () => Date.now(),
    listen: async (spec, disconnected) => listeners.listen(spec, disconnected),
    stopListening: async (token) => listeners.stopListening(token),
    probe: async (targets, signal) => probeAll(targets, timeouts, signal),
  }
}

async function probeAll(
  targets: readonly NetworkProbeTarget[],
  timeouts: ProbeTimeouts,
  signal: AbortSignal,
): Promise<NetworkProbeResult[]> {
  const results: NetworkProbeResult[] = []
  const ended = AbortSignal.any([signal])
  setMaxListeners(0, ended)
  // All workers share one iterator, so each takes the next target when it is free.
  const queue = targets.entries()
  const worker = async (): Promise<void> => {
    for (const [index, target] of queue) {
      const began = performance.now()
      const result = await probeTarget(target, timeouts, ended)
      results[index] = { ...result, milliseconds: Math.round((performance.now() - began) * 10) / 10 }
    }
  }
  await Promise.all(Array.from({ length: maxParallel }, worker))
  return results
}

async function probeTarget(
  target: NetworkProbeTarget,
  { tcpMs, udpMs }: ProbeTimeouts,
  signal: AbortSignal,
): Promise<Pick<NetworkProbeResult, 'outcome' | 'size'>> {
  return target.protocol === 'tcp'
    ? { outcome: await probeTcp(target, tcpMs, signal) }
    : probeUdp(target, udpMs, signal)
}
