import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { compareStages, type Stage } from '../../contract/stage.ts'
import { computeDigest } from '../../diff/digest.ts'
import { listResources } from '../../diff/plan-resources.ts'
import type { Secret } from '../../pki/secret.ts'
import type { Host } from '../host/host.ts'
import { saveAppliedPlan } from './applied-plan.ts'
import { applyOp, type PlanRun } from './apply-op.ts'
import { deleteTemporaryFiles } from './clean-temp.ts'
import { deleteDelivered } from './delivered.ts'
import { diffLedger, readLedgerFor } from './diff-host.ts'
import type { EmitRunEvent } from './emit-run-event.ts'
import { openJournal } from './journal.ts'
import { LedgerStore } from './ledger-store.ts'
import { withCurrentOwners } from './ledger.ts'
import { toRunError } from './op-error.ts'
import { listArtifactDownloads, prefetchArtifacts } from './prefetch.ts'
import { journalRun, runOp } from './run-op.ts'
import { isStart, noStageEndOps, restartThisAgent, type StageEndOps, startStage } from './start-stage.ts'

export interface ApplyPlanOptions {
  readonly host: Host
  readonly plan: NodePlan
  /** Last stage that this run applies. */
  readonly through: Stage
  /** Secrets, keyed by the name that the plan uses. */
  readonly secrets: ReadonlyMap<string, Secret>
  /** Certificates as PEM, keyed by the path of the certificate file. */
  readonly certificates: ReadonlyMap<string, string>
  /** Selects ops that this run must not execute although the resource differs. */
  readonly skipOp?: (op: Op) => boolean
  /** Command that the journal records; the default is `apply through <stage>`. */
  readonly command?: string
  readonly run: string
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}

/**
 * Applies a plan to a host up to a stage. The run stops at the first failure and may be interrupted at any
 * time: the next run inspects the host and continues.
 */
export async function applyPlan(options: ApplyPlanOptions): Promise<void> {
  await applyStages(options).catch((error: unknown) => {
    throw toRunError(error, options.plan.host)
  })
}

async function applyStages(options: ApplyPlanOptions): Promise<void> {
  const { host, plan, through, signal, skipOp = () => false, command = `apply through ${through}` } = options
  const ledgerStore = new LedgerStore(host, await readLedgerFor(host, plan))
  const journal = await openJournal(host, options.run)
  const run: PlanRun = { ...options, name: plan.host, items: listResources(plan), ledgerStore, journal }
  await journalRun(run, { command, plan: computeDigest(plan) }, async () => {
    await deleteTemporaryFiles(host, ledgerStore.ledger, plan)
    const { ops: found } = await diffLedger(host, plan, ledgerStore.ledger)
    const ops = found.filter((op) => !skipOp(op))
    await prefetchOrFail(run, ops)
    const selfRestarts = await runOps(
      run,
      ops.filter(({ stage }) => compareStages(stage, through) <= 0),
    )
    await ledgerStore.save(currentOwnersOrSame(run))
    signal.throwIfAborted()
    const laterOps = ops.filter(({ stage }) => compareStages(stage, through) > 0)
    if (laterOps.length === 0) await saveAppliedPlan(host, plan)
    await deleteDelivered(host, laterOps)
    for (const op of selfRestarts) await restartThisAgent(run, op)
  })
}

async function prefetchOrFail(run: PlanRun, ops: readonly Op[]): Promise<void> {
  const failure = await prefetchArtifacts(listArtifactDownloads(run.plan, ops), run)
  if (failure === undefined) return
  await runOp(run, failure.op, async () => {
    throw failure.error
  })
}

/**
 * Returns the ledger with the current owners, or the same object if no owner changed, so that nothing is
 * written.
 */
function currentOwnersOrSame({ ledgerStore, items: planned, through }: PlanRun): Ledger {
  const next = withCurrentOwners(ledgerStore.ledger, planned, through)
  return JSON.stringify(next) === JSON.stringify(ledgerStore.ledger) ? ledgerStore.ledger : next
}

/**
 * Runs ops in order. Services of a stage start together after its other ops and are awaited before images,
 * the next stage and any removal. Returns the ops that would restart this agent; the caller runs them last.
 */
async function runOps(run: PlanRun, ops: readonly Op[]): Promise<readonly Op[]> {
  const selfRestarts: Op[] = []
  let stageEnd: StageEndOps = noStageEndOps
  const finishStage = async (): Promise<void> => {
    const ended = stageEnd
    stageEnd = noStageEndOps
    if (ended !== noStageEndOps) selfRestarts.push(...(await startStage(run, ended)))
  }
  for (const [index, op] of ops.entries()) {
    const endsStage = op.stage !== ops[index - 1]?.stage || op.action === 'remove' || op.action === 'stop'
    if (endsStage) await finishStage()
    if (op.target === 'derived-file' && op.action !== 'remove') {
      stageEnd = { ...stageEnd, derived: [...stageEnd.derived, op] }
    } else if (op.target === 'image' && op.action !== 'remove') {
      stageEnd = { ...stageEnd, images: [...stageEnd.images, op] }
    } else if (isStart(op)) {
      stageEnd = { ...stageEnd, starts: [...stageEnd.starts, op] }
    } else {
      await runOp(run, op, async () => applyOp(run, op))
    }
  }
  await finishStage()
  return selfRestarts
}
