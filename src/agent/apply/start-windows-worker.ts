import type { Op } from '../../contract/op.ts'
import type { WindowsHost } from '../host/host.ts'
import { reconcileOnce, type ReconcileResult } from '../windows-worker/reconcile-once.ts'
import { type WorkerRole, workerRoles } from '../windows-worker/worker.ts'
import { applyOp, type PlanRun } from './apply-op.ts'
import { withStarted } from '../records/ledger.ts'
import { beginOp, endOp, failOp, runOp } from '../records/run-op.ts'
import { buildStartError, type ServiceStart, stopService } from './start-service.ts'
import { beginWatch, readStartStatus, startTimeoutMs, type StartWatch, updateWatch } from './start-status.ts'
import { waitFor, type WaitResult } from '../resources/wait-for.ts'
import { buildReconcileDeps } from './build-reconcile-deps.ts'
import { buildWorkerSpec, readReconcileState, writeReconcileState } from './build-worker-spec.ts'

interface WorkerStart {
  readonly op: Op
  readonly start: ServiceStart
}

interface BegunWorkerStart extends WorkerStart {
  readonly changed: boolean
  watch: StartWatch
}

/** Milliseconds between two rounds of reconciliation. */
const roundIntervalMs = 1000

export function isWorkerService({ component }: Pick<Op, 'component'>): boolean {
  return workerRoles.some((role: WorkerRole) => role === component)
}

/**
 * Starts services of a Windows worker in the same rounds of reconciliation as healing. A round starts
 * services in dependency order and creates the networks in between. Derived files that need output of a round
 * are written between rounds.
 */
export async function startWindowsWorker(
  run: PlanRun<WindowsHost>,
  workerStarts: readonly WorkerStart[],
  derived: readonly Op[],
): Promise<void> {
  const { host, plan, emit, signal } = run
  const begun: BegunWorkerStart[] = []
  const pendingDerived = new Map(derived.map((op) => [op.name, op]))
  // When a service stops, Windows also stops the services that depend on it. All services that run now must
  // run again before the rounds of reconciliation end.
  const previous = await listRunningServices(run)
  const isAllUp = async (): Promise<boolean> => {
    const now = await listRunningServices(run)
    return [...previous].every((name) => now.has(name))
  }
  try {
    for (const one of workerStarts) begun.push(await beginWorkerStart(run, one))
    await waitFor(
      async (): Promise<WaitResult<true>> => {
        const { decision } = await runOneRound(run, pendingDerived)
        const reason = decision.kind === 'wait' ? decision.reason : 'it'
        await endFinishedStarts(run, begun, reason)
        if (begun.length === 0 && pendingDerived.size === 0 && (await isAllUp())) return { found: true }
        return { for: reason }
      },
      {
        clock: host.clock,
        signal,
        intervalMs: roundIntervalMs,
        emit: (what) => emit(what, begun[0]?.op.component ?? plan.components[0]?.name),
      },
    )
  } catch (error) {
    // A run that fails or is aborted does not wait for the starts that it requested.
    for (const { op } of begun) await endOp(run, op, 'interrupted').catch(() => undefined)
    throw error
  }
}

/** Returns the names of worker services that run now. */
async function listRunningServices({ host, plan }: PlanRun<WindowsHost>): Promise<ReadonlySet<string>> {
  const names = plan.components.flatMap(({ name: component, service }) =>
    service !== undefined && isWorkerService({ component }) ? [service.name] : [],
  )
  const states = await host.services.showAll(names)
  return new Set(names.filter((_name, index) => states[index]?.active === 'active'))
}

/**
 * Begins the op of a service. A service with pending changes is stopped here and started by a later round,
 * because services read changed files only when they start.
 */
async function beginWorkerStart(
  run: PlanRun<WindowsHost>,
  { op, start }: WorkerStart,
): Promise<BegunWorkerStart> {
  const { host, emit, signal } = run
  const { service, action, before, component } = start
  await beginOp(run, op)
  try {
    const mustRestart = action === 'restart' || service.pendingChanges.length > 0
    if (mustRestart) await stopService(host, op.name, op.component, emit, signal)
    const previous = mustRestart && before.invocation !== '' ? before.invocation : undefined
    const now = host.clock.now().getTime()
    const watch = beginWatch(op.name, before, previous, now, startTimeoutMs(component))
    return { op, start, changed: mustRestart || before.active !== 'active', watch }
  } catch (error) {
    throw await failOp(run, op, error)
  }
}

async function runOneRound(
  run: PlanRun<WindowsHost>,
  pendingDerived: Map<string, Op>,
): Promise<ReconcileResult> {
  const { host, plan, ledgerStore, signal } = run
  const spec = buildWorkerSpec(plan, ledgerStore.ledger)
  if (spec === undefined) throw new Error('the plan has no worker networks')
  const derive = async ({ path }: { readonly path: string }): Promise<void> => {
    const op = pendingDerived.get(path)
    if (op === undefined) return
    await runOp(run, op, async () => applyOp(run, op))
    pendingDerived.delete(path)
  }
  const deps = buildReconcileDeps(host, plan, derive, signal)
  const save = async (memory: ReconcileResult['state']): Promise<void> => writeReconcileState(host, memory)
  const end = await reconcileOnce(deps, spec, await readReconcileState(host), save)
  await save(end.state)
  return end
}

/** Ends the op of every requested service that runs now. Throws if a service has failed. */
async function endFinishedStarts(
  run: PlanRun<WindowsHost>,
  begun: BegunWorkerStart[],
  reason: string,
): Promise<void> {
  const { host, ledgerStore, emit } = run
  const states = await host.services.showAll(begun.map(({ op }) => op.name))
  const now = host.clock.now().getTime()
  for (const [index, one] of [...begun.entries()].toReversed()) {
    const state = states[index]
    if (state === undefined) throw new Error(`the supervisor reported nothing about ${one.op.name}`)
    one.watch = updateWatch(one.watch, state, now)
    // An inactive service has not been started by a round yet, so it is still waiting.
    const status =
      state.active === 'inactive'
        ? ({ is: 'waiting', for: reason } as const)
        : readStartStatus(one.watch, state, now)
    if (status.is === 'waiting') continue
    begun.splice(index, 1)
    if (status.is === 'failed') {
      const error = await buildStartError(host, one.op.name, status.how, one.op.component, emit)
      throw await failOp(run, one.op, error)
    }
    await ledgerStore.save(withStarted(ledgerStore.ledger, one.op.name))
    await endOp(run, one.op, one.changed ? 'done' : 'unchanged')
  }
}
