import { type Decision, decide } from './decide-next-step.ts'
import type { WorkerEdges } from './reconcile-deps.ts'
import { look } from './observe-worker.ts'
import { type Pace, taken, usualPace } from './backoff.ts'
import { perform } from './perform-step.ts'
import type { Seen, WorkerMemory } from './worker-observation.ts'
import type { Step } from './step.ts'
import type { WorkerWish } from './worker-spec.ts'

/** So many steps at once, so that a round ends whatever happens. */
const most = 20

export interface RoundEnd {
  /** What the last look has seen. */
  readonly seen: Seen
  readonly memory: WorkerMemory
  /** What there was to wait for at last; `well` when there was nothing more to do. */
  readonly decision: Exclude<Decision, { readonly kind: 'step' }>
  readonly steps: readonly { readonly step: Step; readonly error?: unknown }[]
}

/** What is kept of a worker between rounds, before anything is done that is to be remembered. */
export type Keep = (memory: WorkerMemory) => Promise<void>

export interface RoundOptions {
  readonly pace?: Pace
  /** For whoever tells of each step. */
  readonly take?: (step: Step) => Promise<void>
}

/** Looks and takes steps until there is nothing to do but to wait. A look that fails is for the next round. */
export async function round(
  edges: WorkerEdges,
  wish: WorkerWish,
  former: WorkerMemory,
  keep: Keep,
  { pace = usualPace, take = async (step) => perform(edges, wish, step) }: RoundOptions = {},
): Promise<RoundEnd> {
  const steps: { step: Step; error?: unknown }[] = []
  let memory = former
  for (;;) {
    edges.signal.throwIfAborted()
    const looked = await look(edges, wish, memory)
    const now = edges.clock.now().getTime()
    const decision = decide({ wish, seen: looked.seen, memory: looked.memory, now, pace })
    memory = looked.memory
    if (decision.kind !== 'step') return { seen: looked.seen, memory, decision, steps }
    const { step } = decision
    memory = taken(memory, step, now)
    await keep(memory)
    const error = await attempt(async () => take(step))
    steps.push({ step, ...error })
    if (error === undefined && step.do === 'start') {
      const started = { basis: step.basis, at: now }
      memory = { ...memory, started: { ...memory.started, [step.role]: started } }
      await keep(memory)
    }
    if (steps.length === most) {
      const { seen } = looked
      return { seen, memory, decision: { kind: 'wait', reason: 'the next round' }, steps }
    }
  }
}

/** A step that failed is tried again in its time; whatever else is to be done is done meanwhile. */
async function attempt(work: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return { error }
  }
}
