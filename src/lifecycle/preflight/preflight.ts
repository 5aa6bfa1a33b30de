import type { Finding } from '../../contract/finding.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { findNetworkProblems } from './network-problems.ts'
import { listKubeletPeers, listRequiredConnections, type Peer } from './required-connections.ts'
import { type ConnectionResult, type ProbeAgents, probeConnections } from './probe-connections.ts'

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
  const results: ConnectionResult[] = []
  // An agent listens at one address at a time.
  for (const group of [present, listKubeletPeers(present)]) {
    const connections = listRequiredConnections(group, newHosts)
    results.push(...(await probeConnections(agents, connections, newHosts)))
  }
  return [...clocks, ...findNetworkProblems(results)]
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

/** The clock of a host, as read by the operator. All times are in milliseconds. */
interface ClockReading {
  readonly host: string
  /** Operator's time when the request was sent. */
  readonly sentAt: number
  readonly receivedAt: number
  /** Time of the host at some moment between `sentAt` and `receivedAt`. */
  readonly time: number
}

/** A clock that deviates by more than this is reported as a warning. Synchronized clocks differ by less. */
const warningMs = 2000
/**
 * A clock that deviates by more than this is reported as an error. Service account tokens are accepted up to
 * one minute early, so two hosts that each deviate by half a minute accept each other's tokens.
 */
const errorMs = 30_000

/**
 * Finds clocks that differ from the others. The operator's clock is checked too, because it sets the validity
 * of certificates. Deviation is measured from the median, so a single wrong clock is identified.
 */
export function checkClockSkew(readings: readonly ClockReading[]): readonly Finding[] {
  // Assumes that the host read its clock halfway between request and response. The error is at most half the
  // round trip.
  const clocks = readings.map(({ host, sentAt, receivedAt, time }) => ({
    host,
    offset: time - (sentAt + receivedAt) / 2,
    uncertainty: (receivedAt - sentAt) / 2,
  }))
  const median = findMedian([0, ...clocks.map(({ offset }) => offset)])
  return [{ host: undefined, offset: 0, uncertainty: 0 }, ...clocks].flatMap(
    ({ host, offset, uncertainty }) => {
      const deviation = offset - median
      const minDeviation = Math.abs(deviation) - uncertainty
      return minDeviation > warningMs
        ? [buildSkewFinding(host, deviation, minDeviation > errorMs ? 'error' : 'warning')]
        : []
    },
  )
}

/**
 * Returns the median. Of two middle values, takes the one closer to the operator's clock, because the
 * operator can check that clock directly.
 */
function findMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [
    sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
    sorted[Math.floor(sorted.length / 2)] ?? 0,
  ]
  return Math.abs(low) <= Math.abs(high) ? low : high
}

function buildSkewFinding(
  host: string | undefined,
  deviation: number,
  severity: Finding['severity'],
): Finding {
  const whose = host === undefined ? 'the clock of this machine' : 'its clock'
  const others = host === undefined ? 'those of the hosts' : 'the other clocks'
  return {
    code: 'CLOCK_SKEW',
    severity,
    message: `${whose} is ${formatDuration(Math.abs(deviation))} ${deviation > 0 ? 'ahead of' : 'behind'} ${others}`,
    hint: 'timedatectl set-ntp true; then check the time source: timedatectl timesync-status',
    ...(host === undefined ? {} : { host }),
  }
}
