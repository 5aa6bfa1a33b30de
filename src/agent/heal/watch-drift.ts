import type { NodePlan } from '../../contract/node-plan.ts'
import type { Clock } from '../host/clock.ts'
import type { DataRisk } from './decision/component-observation.ts'
import { elapsed } from './decision/elapsed.ts'
import type { DriftObservation, HealOperations } from './heal-operations.ts'

/** Maximum age of an observation in milliseconds. */
const maxAgeMs = { stable: 60_000, unstable: 10_000 } as const

export interface DiskObservation {
  readonly drift: DriftObservation
  readonly dataRisks: ReadonlyMap<string, DataRisk>
}

export interface DriftWatch {
  readonly current: DiskObservation
  /** Checks drift and data risks again if the last check is too old for this mode. */
  refresh(plan: NodePlan, mode: keyof typeof maxAgeMs): Promise<void>
  /** Forces a new check, because the host was changed. */
  invalidate(): void
}

const emptyObservation: DiskObservation = {
  drift: { repairable: new Map(), unrepairable: new Map(), stopped: new Set() },
  dataRisks: new Map(),
}

export function watchDrift(
  { detectDrift, findDataRisks }: Pick<HealOperations, 'detectDrift' | 'findDataRisks'>,
  clock: Clock,
): DriftWatch {
  let current = emptyObservation
  let last: { readonly plan: NodePlan; readonly at: number } | undefined
  return {
    get current() {
      return current
    },
    async refresh(plan, mode) {
      const time = clock.now().getTime()
      if (last?.plan === plan && elapsed(last.at, time) < maxAgeMs[mode]) return
      const [drift, dataRisks] = await Promise.all([detectDrift(plan), findDataRisks(plan)])
      current = { drift, dataRisks }
      last = { plan, at: time }
    },
    invalidate() {
      last = undefined
    },
  }
}
