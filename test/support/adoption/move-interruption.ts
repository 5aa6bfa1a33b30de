import { createRandom, shuffle } from '../random.ts'

/** What interrupts a move or a rollback. */
export const moveInterruptionKinds = ['operator-killed', 'host-power-cut', 'partition'] as const
export type MoveInterruptionKind = (typeof moveInterruptionKinds)[number]

/** What is interrupted, and what the operator runs next. A rollback is repeated, as the documentation says. */
export const interruptedRuns = [
  { command: 'up', next: 'up' },
  { command: 'up', next: 'rollback' },
  { command: 'rollback', next: 'rollback' },
] as const
export type InterruptedRun = (typeof interruptedRuns)[number]

export interface MoveInterruption {
  readonly kind: MoveInterruptionKind
  readonly run: InterruptedRun
  /** Affected host; ignored if the operator is killed. */
  readonly host: string
  /** Position in the run, from 0 to 1. */
  readonly point: number
}

/** Plans interruptions: all kinds and runs equally often, at points spread over the whole run. */
export function planMoveInterruptions(
  seed: number,
  count: number,
  hosts: readonly string[],
): readonly MoveInterruption[] {
  const random = createRandom(seed)
  const turns = Array.from({ length: count }, (_, index) => index)
  // Each kind occurs with each run before any pair is repeated.
  const pairs = turns.flatMap((turn) => {
    const kind = moveInterruptionKinds[turn % moveInterruptionKinds.length]
    const run = interruptedRuns[Math.floor(turn / moveInterruptionKinds.length) % interruptedRuns.length]
    return kind === undefined || run === undefined ? [] : [{ kind, run }]
  })
  // One point lies in each part of the run, so the random numbers cannot leave a part out.
  const points = shuffle(
    turns.map((turn) => (turn + random()) / count),
    random,
  )
  return shuffle(pairs, random).flatMap(({ kind, run }, turn) => {
    const [point, host] = [points[turn], hosts[Math.floor(random() * hosts.length)]]
    return point === undefined || host === undefined ? [] : [{ kind, run, host, point }]
  })
}
