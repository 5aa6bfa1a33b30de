import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { Probe, ProbeCheck } from '../../../contract/probe.ts'
import { printable } from '../../../kit/printable.ts'
import type { Seen } from '../probe-result.ts'

export type CheckKind = ProbeCheck['kind']
export type Checks = { readonly [K in CheckKind]: Extract<ProbeCheck, { kind: K }> }

/** Whose question it is. */
export interface About {
  readonly probe: Probe
  readonly component: ComponentPlan
}

/** Asks a question of one kind. What it throws means that nobody could be asked; the signal ends it at its time. */
export type Ask<K extends CheckKind> = (check: Checks[K], signal: AbortSignal, about: About) => Promise<Seen>

export const well: Seen = { state: 'well' }

export function failed(code: string, seen: string): Seen {
  return { state: 'failed', code, seen: short(seen) }
}

export function unknown(seen: string): Seen {
  return { state: 'unknown', seen: short(seen) }
}

/** For people, who read it in a table; and of a stranger's words no more than they can bear. */
function short(text: string): string {
  return printable(text.trim().replaceAll(/\s*\n\s*/g, '; ')).slice(0, 300)
}
