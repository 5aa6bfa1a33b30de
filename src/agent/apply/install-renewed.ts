import { type PlannedCertificate, stages } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { listResources } from '../../diff/plan-resources.ts'
import { computeDigest } from '../../diff/resource.ts'
import type { Host } from '../host/host.ts'
import { applyOp, type PlanRun } from './apply-op.ts'
import { readLedgerFor } from './diff-host.ts'
import { openJournal } from '../records/journal.ts'
import { LedgerStore } from '../records/ledger.ts'
import { type EmitRunEvent, journalRun, runOp, toRunError } from '../records/run-op.ts'

export interface InstallRenewedOptions {
  readonly host: Host
  /** The last plan that was applied to the host. */
  readonly plan: NodePlan
  readonly toRenew: readonly PlannedCertificate[]
  /**
   * Signed certificates as PEM, keyed by the path of the certificate file. A certificate that an interrupted
   * run already received may be left out.
   */
  readonly certificates: ReadonlyMap<string, string>
  readonly run: string
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}

/**
 * Installs new certificates as an apply of the same plan would. Other drift is left to an operator. If one
 * certificate fails, the others are still installed.
 */
export async function installRenewedCertificates(options: InstallRenewedOptions): Promise<void> {
  await runRenewOps(options).catch((error: unknown) => {
    throw toRunError(error, options.plan.host)
  })
}

async function runRenewOps(options: InstallRenewedOptions): Promise<void> {
  const { host, plan, signal } = options
  const ledgerStore = new LedgerStore(host, await readLedgerFor(host, plan))
  const journal = await openJournal(host, options.run)
  const run: PlanRun = {
    ...options,
    name: plan.host,
    items: listResources(plan),
    through: stages.at(-1) ?? 'network',
    secrets: new Map(),
    ledgerStore,
    journal,
  }
  await journalRun(run, { command: 'renew certificates', plan: computeDigest(plan) }, async () => {
    const failures: unknown[] = []
    for (const op of buildRenewOps(options)) {
      await runOp(run, op, async () => applyOp(run, op)).catch((error: unknown) => failures.push(error))
      signal.throwIfAborted()
    }
    if (failures.length > 0) throw failures[0]
  })
}

/**
 * Builds ops that replace certificates. The ops do not restart services, because every service reloads its
 * certificates.
 */
function buildRenewOps({ plan, toRenew }: InstallRenewedOptions): Op[] {
  const files = new Set(toRenew.map(({ certificateFile }) => certificateFile))
  return plan.components.flatMap(({ name: component, stage, certificates }) =>
    certificates
      .filter(({ certificateFile }) => files.has(certificateFile))
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
