import { seeded, shuffled } from './random.ts'

/** What can happen to a run of `up`, as it happens to people. */
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
  /** The host that it happens to; of no matter when it happens to the CLI. */
  readonly host: string
  /** When: how much of a course lies before it, from 0 to 1. */
  readonly point: number
}

/** As many as wanted, each kind as often as the others, at points that are spread over the whole course. */
export function interruptions(seed: number, count: number, hosts: readonly string[]): Interruption[] {
  const random = seeded(seed)
  const turns = Array.from({ length: count }, (_, index) => index)
  const kinds = turns.flatMap((turn) => interruptionKinds[turn % interruptionKinds.length] ?? [])
  // One in each part of the course, so that no part is left out by chance.
  const points = turns.map((turn) => (turn + random()) / count)
  const [dealt, spread] = [shuffled(kinds, random), shuffled(points, random)]
  return turns.flatMap((turn) => {
    const [kind, point] = [dealt[turn], spread[turn]]
    const host = hosts[Math.floor(random() * hosts.length)]
    return kind === undefined || point === undefined || host === undefined ? [] : [{ kind, host, point }]
  })
}
