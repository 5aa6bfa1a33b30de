import type { Finding } from '../contract/finding.ts'
import { settleAll } from '../kit/settle-all.ts'
import { type ClockReading, judgeClocks } from './network-preflight/clock-skew.ts'
import { judge } from './network-preflight/network-problems.ts'
import { needsOf } from './network-preflight/required-connection.ts'
import { type Agents, observe } from './network-preflight/probe-connections.ts'
import type { Peer } from './network-preflight/peer.ts'

export interface PreflightOptions {
  /** Hosts on which something is put that others have to reach. Without one nobody is asked anything. */
  readonly fresh: ReadonlySet<string>
  readonly now: () => Date
}

/**
 * What only hosts together can show, before anything runs on them: whether those who need a port reach it, whether the
 * way between nodes takes packets as large as those of pods, and whether their clocks agree.
 */
export async function preflight(
  agents: Agents,
  peers: readonly Peer[],
  { fresh, now }: PreflightOptions,
): Promise<readonly Finding[]> {
  const present = peers.filter(({ host }) => agents.has(host))
  if (!present.some(({ host }) => fresh.has(host))) return []
  // First, while the agents have nothing else to do: what they wait for would count as theirs.
  const clocks = judgeClocks(await readClocks(agents, now))
  return [...clocks, ...judge(await observe(agents, needsOf(present, fresh), fresh))]
}

async function readClocks(agents: Agents, now: () => Date): Promise<readonly ClockReading[]> {
  return settleAll(
    [...agents].map(async ([host, agent]) => {
      const asked = now().getTime()
      const { time } = await agent.ask({ type: 'clock' }, 'clock')
      return { host, asked, answered: now().getTime(), time }
    }),
  )
}
