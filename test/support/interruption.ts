import { createRandom, shuffle } from './random.ts'

/** Interruptions of `up` that happen in practice. */
export const interruptionKinds = [
  'cli-killed',
  'cli-interrupted',
  'ssh-cut',
  'agent-killed',
  'host-crash',
  'host-power-cut',
] as const
export type InterruptionKind = (typeof interruptionKinds)[number]

export interface Interruption {
  readonly kind: InterruptionKind
  /** Affected host; ignored if the CLI is interrupted. */
  readonly host: string
  /** Position in the run, from 0 to 1. */
  readonly point: number
}

/** Generates interruptions: all kinds equally often, at points spread over the whole run. */
export function planInterruptions(seed: number, count: number, hosts: readonly string[]): Interruption[] {
  const random = createRandom(seed)
  const turns = Array.from({ length: count }, (_, index) => index)
  const kinds = turns.flatMap((turn) => interruptionKinds[turn % interruptionKinds.length] ?? [])
  // Puts one point into each part of the run, so the random numbers cannot leave a part out.
  const points = turns.map((turn) => (turn + random()) / count)
  const [shuffledKinds, shuffledPoints] = [shuffle(kinds, random), shuffle(points, random)]
  return turns.flatMap((turn) => {
    const [kind, point] = [shuffledKinds[turn], shuffledPoints[turn]]
    const host = hosts[Math.floor(random() * hosts.length)]
    return kind === undefined || point === undefined || host === undefined ? [] : [{ kind, host, point }]
  })
}
