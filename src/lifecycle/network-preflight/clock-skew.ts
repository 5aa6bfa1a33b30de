import type { Finding } from '../../contract/finding.ts'
import { duration } from '../../kit/duration.ts'

/** What time it is on a host, seen from here. All in milliseconds. */
export interface ClockReading {
  readonly host: string
  /** Here, when it was asked and when the answer came. */
  readonly asked: number
  readonly answered: number
  /** There, at some moment between the two. */
  readonly time: number
}

/** Clocks that are kept do not differ by so much: nobody keeps this one. etcd itself complains from one second on. */
const notable = 2000
/**
 * Tokens of service accounts are borne for a minute before their time. Two hosts that are each within half of it of the
 * rest bear each other's.
 */
const harmful = 30_000

/**
 * Clocks that are not like the others. Ours is one of them: it signs certificates. What counts is how far one is from
 * the middle of all, so that a single one that is wrong is known as that one.
 */
export function judgeClocks(readings: readonly ClockReading[]): readonly Finding[] {
  // In the middle of the question and its answer, give or take half of what lies between them.
  const clocks = readings.map(({ host, asked, answered, time }) => ({
    host,
    ahead: time - (asked + answered) / 2,
    doubt: (answered - asked) / 2,
  }))
  const middle = middleOf([0, ...clocks.map(({ ahead }) => ahead)])
  return [{ host: undefined, ahead: 0, doubt: 0 }, ...clocks].flatMap(({ host, ahead, doubt }) => {
    const off = ahead - middle
    const sure = Math.abs(off) - doubt
    return sure > notable ? [skew(host, off, sure > harmful ? 'error' : 'warning')] : []
  })
}

/** Of two in the middle the one that is closer to our own clock, which is the one a person has before them. */
function middleOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [
    sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
    sorted[Math.floor(sorted.length / 2)] ?? 0,
  ]
  return Math.abs(low) <= Math.abs(high) ? low : high
}

function skew(host: string | undefined, off: number, severity: Finding['severity']): Finding {
  const whose = host === undefined ? 'the clock of this machine' : 'its clock'
  const others = host === undefined ? 'those of the hosts' : 'the other clocks'
  return {
    code: 'CLOCK_SKEW',
    severity,
    message: `${whose} is ${duration(Math.abs(off))} ${off > 0 ? 'ahead of' : 'behind'} ${others}`,
    hint: 'timedatectl set-ntp true; timedatectl timesync-status then shows whom it follows',
    ...(host === undefined ? {} : { host }),
  }
}
