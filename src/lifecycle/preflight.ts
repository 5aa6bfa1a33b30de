import type { Finding } from '../contract/finding.ts'
import { settleAll } from '../kit/settle-all.ts'
import { type ClockReading, checkClockSkew } from './network-preflight/clock-skew.ts'
import { findNetworkProblems } from './network-preflight/network-problems.ts'
import { listRequiredConnections } from './network-preflight/required-connection.ts'
import { type ProbeAgents, probeConnections } from './network-preflight/probe-connections.ts'
import type { Peer } from './network-preflight/peer.ts'

export interface PreflightOptions {
  /** Hosts that get a component which other hosts must reach. If the set is empty, nothing is checked. */
  readonly newHosts: ReadonlySet<string>
  readonly now: () => Date
}

/**
 * Checks new hosts before components are installed: reachable ports, packet size between nodes, and clock
 * skew.
 */
export async function runPreflight(
  agents: ProbeAgents,
  peers: readonly Peer[],
  { newHosts, now }: PreflightOptions,
): Promise<readonly Finding[]> {
  const present = peers.filter(({ host }) => agents.has(host))
  if (!present.some(({ host }) => newHosts.has(host))) return []
  // Clocks are read first, while agents are idle, because a busy agent would respond late.
  const clocks = checkClockSkew(await readClocks(agents, now))
  return [
    ...clocks,
    ...findNetworkProblems(
      await probeConnections(agents, listRequiredConnections(present, newHosts), newHosts),
    ),
  ]
}

async function readClocks(agents: ProbeAgents, now: () => Date): Promise<readonly ClockReading[]> {
  return settleAll(
    [...agents].map(async ([host, agent]) => {
      const sentAt = now().getTime()
      const { time } = await agent.request({ type: 'clock' }, 'clock')
      return { host, sentAt, receivedAt: now().getTime(), time }
    }),
  )
}
