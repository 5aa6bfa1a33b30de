import type { HostHealer } from '../../agent/heal/host-healer.ts'
import type { Ladder } from '../../agent/heal/decision/escalation-policy.ts'
import type { AskProbe } from '../../agent/heal/probe-result.ts'
import type { Teller } from '../../agent/heal/report/heal-reporter.ts'
import type { Host } from '../../agent/host/host.ts'
import type { ClaimStore } from '../../agent/operator-lock/operator-lock-store.ts'
import type { HostWork } from '../../agent/server/dispatch.ts'
import type { Runs } from '../../agent/runs/runs.ts'

/** What healing on any host is given. */
export interface HealingScene {
  readonly work: HostWork
  readonly runs: Runs
  readonly claims: ClaimStore
  readonly ask: AskProbe
  readonly tell: Teller['tell']
  readonly ladder: Ladder['name']
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/** The agent's hands on the system that it runs on. */
export interface WiredAgent extends AsyncDisposable {
  readonly host: Host
  readonly work: HostWork
  readonly ask: AskProbe
  healer(scene: HealingScene): Promise<HostHealer>
}
