import type { HostHealer } from '../../agent/heal/host-healer.ts'
import type { Ladder } from '../../agent/heal/core/ladders.ts'
import type { AskProbe } from '../../agent/heal/seen.ts'
import type { Teller } from '../../agent/heal/told/tell.ts'
import type { Host } from '../../agent/host/host.ts'
import type { ClaimStore } from '../../agent/serve/claim-store.ts'
import type { HostWork } from '../../agent/serve/answer.ts'
import type { Runs } from '../../agent/serve/runs.ts'

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
