import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { stages } from '../../contract/stage.ts'
import { digestOf } from '../../diff/digest.ts'
import { items } from '../../diff/plan-resources.ts'
import type { Host } from '../host/host.ts'
import { ledgerFor } from './diff-host.ts'
import type { Emit } from './emit-run-event.ts'
import { openJournal } from './journal.ts'
import { LedgerBook } from './ledger-store.ts'
import { runError } from './op-error.ts'
import { perform, type PlanRun } from './apply-op.ts'
import { journalRun, runOp } from './run-op.ts'

export interface RenewOptions {
  readonly host: Host
  /** The one that the host was taken through last. */
  readonly plan: NodePlan
  readonly places: readonly PlannedCertificate[]
  /** PEM, by the path of the certificate's file; none for those that came before somebody was cut. */
  readonly certificates: ReadonlyMap<string, string>
  readonly run: string
  readonly emit: Emit
  readonly signal: AbortSignal
}

/**
 * Puts new certificates in their places as an apply of the same plan would, and touches nothing else: what somebody has
 * changed on the host waits for an operator. One that does not fit keeps none of the others away.
 */
export async function renewCertificates(options: RenewOptions): Promise<void> {
  await renewAll(options).catch((error: unknown) => {
    throw runError(error, options.plan.host)
  })
}

async function renewAll(options: RenewOptions): Promise<void> {
  const { host, plan, signal } = options
  const book = new LedgerBook(host, await ledgerFor(host, plan))
  const journal = await openJournal(host, options.run)
  const run: PlanRun = {
    ...options,
    name: plan.host,
    items: items(plan),
    through: stages.at(-1) ?? 'network',
    secrets: new Map(),
    book,
    journal,
  }
  await journalRun(run, { command: 'renew certificates', plan: digestOf(plan) }, async () => {
    const failures: unknown[] = []
    for (const op of opsFor(options)) {
      await runOp(run, op, async () => perform(run, op)).catch((error: unknown) => failures.push(error))
      signal.throwIfAborted()
    }
    if (failures.length > 0) throw failures[0]
  })
}

/** No program is restarted for a certificate: all of them read theirs again. */
function opsFor({ plan, places }: RenewOptions): Op[] {
  const wanted = new Set(places.map(({ certificateFile }) => certificateFile))
  return plan.components.flatMap(({ name: component, stage, certificates }) =>
    certificates
      .filter(({ certificateFile }) => wanted.has(certificateFile))
      .map(({ certificateFile: name }): Op => ({
        component,
        stage,
        action: 'change',
        target: 'certificate',
        name,
        because: [],
      })),
  )
}
