import type { Ledger } from '../../../contract/ledger.ts'
import type { Op } from '../../../contract/op.ts'
import { buildEmptyPlan } from '../../../diff/empty-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { getServiceManager } from '../../host/host.ts'
import { openJournal } from '../journal.ts'
import { findResource, withoutResource } from '../ledger.ts'
import { LedgerStore, readLedger } from '../ledger-store.ts'
import { formatInUse } from '../apply-op.ts'
import { journalRun, type OpOutcome, type Run, runOp } from '../run-op.ts'
import { deleteTemporaryFiles } from '../clean-temp.ts'
import { handlersFor } from '../handlers-by-os.ts'
import { listLeftoverSteps } from './leftover-steps.ts'
import { diffAgainstLedger } from './diff-against-ledger.ts'
import { agentServiceName, removeOwnFiles } from './remove-own-files.ts'
import { stopOp } from './stop-services.ts'
import type { ResetOptions } from './reset-options.ts'

export interface ResetResult {
  readonly report: readonly ResetStep[]
  /**
   * Stops the agent's own service; undefined if the agent does not run as a service. Must be called after all
   * events were emitted.
   */
  readonly exitHook: (() => Promise<void>) | undefined
}

export interface ResetStep {
  readonly step: string
  /** Names of what this step found and removed. */
  readonly removed: readonly string[]
  /** Paths that are still in use and could not be removed. */
  readonly inUse?: readonly string[]
}

/**
 * Removes everything of hyperkube from a host, without a plan, and keeps everything else. The ledger is
 * removed last, so that an interrupted reset can start again.
 */
export async function runReset(options: ResetOptions): Promise<ResetResult> {
  const { host, signal } = options
  const ledger = await readLedger(host)
  const services = getServiceManager(host)
  const unit = agentServiceName(host)
  const isService = (await services.show(unit)).pid === host.release.pid
  const report = ledger === undefined ? [] : await resetLedger(options, ledger)
  signal.throwIfAborted()
  const inUse = await removeOwnFiles(host, ledger)
  if (inUse.length > 0) options.emit({ type: 'log', lines: inUse.map(formatInUse) })
  return {
    report: inUse.length === 0 ? report : [...report, { step: 'own', removed: [], inUse }],
    exitHook: isService ? async () => services.stop(unit) : undefined,
  }
}

async function resetLedger(options: ResetOptions, ledger: Ledger): Promise<readonly ResetStep[]> {
  const { host, name } = options
  const ledgerStore = new LedgerStore(host, ledger)
  const run: Run = { ...options, ledgerStore, journal: await openJournal(host, options.run) }
  const plan = buildEmptyPlan(ledger.cluster, name)
  const ops = diffAgainstLedger(plan, ledger)
  const stops = ops.filter(({ action }) => action === 'stop')
  const removals = ops.filter(({ action }) => action === 'remove')
  const report: ResetStep[] = []
  await journalRun(run, { command: 'reset' }, async () => {
    await deleteTemporaryFiles(host, ledger, plan)
    for (const op of stops) await runOp(run, op, async () => stopOp(run, op))
    report.push(...(await removeLeftovers(options, ledger)))
    for (const op of removals) await runOp(run, op, async () => removeResource(run, op))
    report.push({ step: 'things', removed: removals.map((op) => `${op.target} ${op.name}`) })
  })
  return report
}

async function removeLeftovers(
  { host, name, emit, signal }: ResetOptions,
  ledger: Ledger,
): Promise<readonly ResetStep[]> {
  const report: ResetStep[] = []
  for (const [step, removeStep] of listLeftoverSteps(host, ledger)) {
    signal.throwIfAborted()
    const removed = await removeStep(signal).catch((cause: unknown) => {
      signal.throwIfAborted()
      const message = `${step} of the cluster could not be taken away`
      throw new HyperkubeError('APPLY_OP_FAILED', message, { host: name, cause })
    })
    report.push({ step, removed })
    if (removed.length > 0) emit({ type: 'log', lines: removed.map((line) => `${step}: ${line}`) })
  }
  return report
}

async function removeResource({ host, ledgerStore, emit }: Run, op: Op): Promise<OpOutcome> {
  const resource = findResource(ledgerStore.ledger, op)
  if (resource === undefined) return 'unchanged'
  const context = { host, ledger: ledgerStore.ledger }
  const { changed, retained, inUse = [] } = await handlersFor(host)[resource.target].remove(resource, context)
  if (inUse.length > 0) emit({ type: 'log', lines: inUse.map(formatInUse) }, op.component)
  await ledgerStore.save(withoutResource(ledgerStore.ledger, op, retained))
  return changed ? 'done' : 'unchanged'
}
