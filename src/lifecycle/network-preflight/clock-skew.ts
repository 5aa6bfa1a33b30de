import type { Finding } from '../../contract/finding.ts'
import { formatDuration } from '../../kit/duration.ts'

/** The clock of a host, as read by the operator. All in milliseconds. */
export interface ClockReading {
  readonly host: string
  /** Operator time when the request was sent and when the response arrived. */
  readonly sentAt: number
  readonly receivedAt: number
  /** Host time at some moment between the two. */
  readonly time: number
}

/** Synchronized clocks do not differ this much. etcd itself warns from one second on. */
const warningMs = 2000
/**
 * Service account tokens are accepted up to one minute early. Two hosts that are each within half a minute of
 * the rest accept each other's tokens.
 */
const errorMs = 30_000

/**
 * Finds clocks that differ from the others. The operator's own clock is one of them, because it signs
 * certificates. Deviation is measured from the median, so that a single wrong clock is identified.
 */
export function checkClockSkew(readings: readonly ClockReading[]): readonly Finding[] {
  // Assumes the midpoint of request and response; the error is at most half the round trip.
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
 * With two middle values, takes the one closer to the operator's clock, which a person can check directly.
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
    hint: 'timedatectl set-ntp true; timedatectl timesync-status then shows its time source',
    ...(host === undefined ? {} : { host }),
  }
}
