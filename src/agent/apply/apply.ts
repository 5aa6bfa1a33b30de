import { compareStages, type Stage } from '../../contract/component-plan.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { listResources } from '../../diff/plan-resources.ts'
import { computeDigest } from '../../diff/resource.ts'
import type { HttpRoute } from '../../kit/http-route.ts'
import type { Secret } from '../../pki/secret.ts'
import type { Host } from '../host/host.ts'
import type { UnitState } from '../host/service-manager.ts'
import { applyOp, type PlanRun } from './apply-op.ts'
import { findIntactFiles } from '../resources/artifact-files.ts'
import { diffLedger, readLedgerFor } from './diff-host.ts'
import { resolveDownloadRoute } from '../resources/download-route.ts'
import { deleteDelivered, downloadArtifact, type RemoteArtifact } from '../resources/download.ts'
import { openJournal } from '../records/journal.ts'
import { LedgerStore, withCurrentOwners } from '../records/ledger.ts'
import { orderPredecessors } from './order-predecessors.ts'
import { deleteTemporaryFiles } from './orphans.ts'
import { replacementFileCheck } from '../resources/replace-files.ts'
import { type EmitRunEvent, journalRun, runOp, toRunError } from '../records/run-op.ts'
import {
  finishRun,
  isStart,
  noStageEndOps,
  restartThisAgent,
  type RunEndWork,
  type StageEndOps,
  startStage,
} from './start-stage.ts'
import { interruptStarts } from './start-together.ts'
import { saveAppliedPlan } from '../records/state-file.ts'

export interface ApplyPlanOptions {
  readonly host: Host
  readonly plan: NodePlan
  /** Last stage that this run applies. */
  readonly through: Stage
  /** Secrets, keyed by the name that the plan uses. */
  readonly secrets: ReadonlyMap<string, Secret>
  /** Certificates as PEM, keyed by the path of the certificate file. */
  readonly certificates: ReadonlyMap<string, string>
  /** Returns true for ops that this run must not execute, although their resource differs from the plan. */
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
    const newUnits = await showNewServices(host, ops, through)
    const selfRestarts = await runOps(
      { ...run, newUnits },
      orderPredecessors(
        ops.filter(({ stage }) => compareStages(stage, through) <= 0),
        plan,
      ),
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
  const downloads = listArtifactDownloads(run.plan, ops)
  if (downloads.length === 0) return
  const failure = await prefetchArtifacts(downloads, run, await resolveDownloadRoute(run))
  if (failure === undefined) return
  await runOp(run, failure.op, async () => {
    throw failure.error
  })
}

/**
 * Queries the states of the services that this run creates. One program start queries all of them. Windows
 * services do not use the result.
 */
async function showNewServices(
  { os, services }: Host,
  ops: readonly Op[],
  through: Stage,
): Promise<ReadonlyMap<string, UnitState>> {
  const created = ops.filter(
    ({ target, action, stage }) =>
      target === 'service' && action === 'create' && compareStages(stage, through) <= 0,
  )
  if (os === 'windows') return new Map()
  const states = await services.showAll(created.map(({ name }) => name))
  return new Map(
    created.flatMap(({ name }, index) => {
      const state = states[index]
      return state === undefined ? [] : [[name, state] as const]
    }),
  )
}

/**
 * Returns the ledger with the current owners. If no owner changed, returns the same object, so the caller
 * does not write it again.
 */
function currentOwnersOrSame({ ledgerStore, items: planned, through }: PlanRun): Ledger {
  const next = withCurrentOwners(ledgerStore.ledger, planned, through)
  return JSON.stringify(next) === JSON.stringify(ledgerStore.ledger) ? ledgerStore.ledger : next
}

/**
 * Runs ops in order. If all ops only create or start resources, no stage waits for the services of the
 * previous stage. Returns the ops that would restart this agent; the caller runs them last.
 */
async function runOps(run: PlanRun, ops: readonly Op[]): Promise<readonly Op[]> {
  // If ops only add services, stages need not wait. systemd orders the starts by the dependencies of the
  // units, as after a boot.
  const onlyAdds = ops.every(
    ({ action, target }) => target !== 'predecessor' && (action === 'create' || action === 'start'),
  )
  if (run.host.os === 'windows' || !onlyAdds) return runStages(run, ops)
  const runEnd: RunEndWork = { starts: [], derived: [], images: [] }
  try {
    const selfRestarts = await runStages(run, ops, runEnd)
    await finishRun(run, { ...runEnd, starts: runEnd.starts.splice(0) })
    return selfRestarts
  } catch (error) {
    await interruptStarts(run, runEnd.starts)
    throw error
  }
}

/**
 * Runs the ops of all stages. The services of a stage start together after its other ops. Without `runEnd`,
 * the run then waits until these services run. Only afterwards it loads images, begins the next stage or
 * removes resources.
 */
async function runStages(run: PlanRun, ops: readonly Op[], runEnd?: RunEndWork): Promise<readonly Op[]> {
  const selfRestarts: Op[] = []
  let stageEnd: StageEndOps = noStageEndOps
  const finishStage = async (later: readonly Op[]): Promise<void> => {
    const ended = stageEnd
    stageEnd = noStageEndOps
    if (ended !== noStageEndOps) selfRestarts.push(...(await startStage(run, ended, later, runEnd)))
  }
  for (const [index, op] of ops.entries()) {
    const endsStage = op.stage !== ops[index - 1]?.stage || op.action === 'remove' || op.action === 'stop'
    if (endsStage) await finishStage(ops.slice(index))
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
  await finishStage([])
  return selfRestarts
}

/** Maximum number of parallel downloads. More downloads would only share the same bandwidth. */
const maxParallel = 3

interface ArtifactDownload {
  readonly op: Op
  readonly artifact: RemoteArtifact
}

/**
 * Lists the downloads that ops of any stage need. All are downloaded before the first op, because downloads
 * take most of the time of a first run.
 */
function listArtifactDownloads(plan: NodePlan, ops: readonly Op[]): ArtifactDownload[] {
  const artifacts = plan.components.flatMap((component) => component.artifacts)
  return ops
    .filter(({ target, action }) => target === 'artifact' && action !== 'remove')
    .flatMap((op) => {
      const artifact = artifacts.find(({ name, version }) => `${name}-${version}` === op.name)
      return artifact?.from === 'url' ? [{ op, artifact }] : []
    })
}

interface PrefetchDeps {
  readonly host: Host
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}

/**
 * Downloads artifacts in parallel. The first failure aborts the other downloads and is returned with its op.
 */
async function prefetchArtifacts(
  downloads: readonly ArtifactDownload[],
  { host, emit, signal }: PrefetchDeps,
  route: HttpRoute,
): Promise<{ readonly op: Op; readonly error: unknown } | undefined> {
  const failed = new AbortController()
  const eitherSignal = AbortSignal.any([signal, failed.signal])
  const queue = downloads.values()
  let failure: { op: Op; error: unknown } | undefined
  const worker = async (): Promise<void> => {
    for (const { op, artifact } of queue) {
      if (eitherSignal.aborted) return
      try {
        const { directory, sha256 } = artifact
        if ((await findIntactFiles(host.files, directory, sha256, replacementFileCheck(host))) !== undefined)
          continue
        await downloadArtifact(artifact, { host, component: op.component, route, emit, signal: eitherSignal })
      } catch (error) {
        failure ??= { op, error }
        failed.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: maxParallel }, worker))
  signal.throwIfAborted()
  return failure
}
