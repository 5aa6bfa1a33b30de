import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { Probe } from '../../contract/probe.ts'

/** What a probe saw once. That nobody could be asked about the world says nothing of the component. */
export type Seen =
  | { readonly state: 'well' }
  | { readonly state: 'failed'; readonly seen: string; readonly code?: string }
  | { readonly state: 'unknown'; readonly seen: string }

/** Asks once, and always answers: by its time at the latest. Rejects only when the signal says so. */
export type AskProbe = (probe: Probe, component: ComponentPlan, signal: AbortSignal) => Promise<Seen>
