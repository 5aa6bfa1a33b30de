import type { HostHealer } from '../../agent/heal/host-healer.ts'
import type { EscalationPolicy } from '../../agent/heal/decision/escalation-policy.ts'
import type { RunProbe } from '../../agent/heal/probe-result.ts'
import type { HealReporter } from '../../agent/heal/report/heal-reporter.ts'
import type { Host } from '../../agent/host/host.ts'
import type { OperatorLockStore } from '../../agent/operator-lock/operator-lock-store.ts'
import type { HostOperations } from '../../agent/server/dispatch.ts'
import type { Runs } from '../../agent/runs/runs.ts'

/** Inputs of a healer, the same on every OS. */
export interface PlatformHealerOptions {
  readonly work: HostOperations
  readonly runs: Runs
  readonly claims: OperatorLockStore
  readonly runProbe: RunProbe
  readonly report: HealReporter['report']
  readonly healPolicy: EscalationPolicy['name']
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/** The parts of an agent that depend on the OS. */
export interface PlatformAgent extends AsyncDisposable {
  readonly host: Host
  readonly work: HostOperations
  readonly runProbe: RunProbe
  createHealer(options: PlatformHealerOptions): Promise<HostHealer>
}
