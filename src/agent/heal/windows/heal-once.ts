import { stages } from '../../../contract/component-plan.ts'
import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { listResources } from '../../../diff/plan-resources.ts'
import { formatError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import { applyOp as performOp, type PlanRun } from '../../apply/apply-op.ts'
import { readLedgerFor } from '../../apply/diff-host.ts'
import { LedgerStore } from '../../records/ledger.ts'
import { type OpRunContext, runOp } from '../../records/run-op.ts'
import { buildReconcileDeps } from '../../apply/build-reconcile-deps.ts'
import { buildWorkerSpec, readReconcileState, writeReconcileState } from '../../apply/build-worker-spec.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { LockedByOtherDeps } from '../../operator-lock/operator-lock.ts'
import type { Runs } from '../../runs/runs.ts'
import type { StepBackoff } from '../../windows-worker/backoff.ts'
import { decideNextStep, type ReconcileDecision } from '../../windows-worker/decide-next-step.ts'
import { observeWorker } from '../../windows-worker/observe-worker.ts'
import { performReconcileStep } from '../../windows-worker/perform-step.ts'
import type { ReconcileDeps } from '../../windows-worker/reconcile-deps.ts'
import { reconcileOnce } from '../../windows-worker/reconcile-once.ts'
import type { ReconcileStep } from '../../windows-worker/step.ts'
import type { WorkerRole, WorkerSpec } from '../../windows-worker/worker.ts'
import { runHealing } from '../healing-run.ts'
import { repairWindowsDrift } from './repair-drift.ts'
import { formatStepMessage, type StepMessage } from './step-messages.ts'

export interface WindowsHealDeps extends LockedByOtherDeps {
  readonly host: WindowsHost
  readonly runs: Runs
  readonly backoff: StepBackoff
}

/** Observed problems of a host, and its plan. */
export interface WindowsHealInput {
  readonly plan: NodePlan
  /** Files and programs that differ from what was installed. */
  readonly drift: readonly Op[]
  /** Running programs that failed their probes often enough to count as unhealthy. */
  readonly unhealthy: ReadonlySet<WorkerRole>
  /** Components whose services an operator stopped with hyperkube. */
  readonly stopped: ReadonlySet<string>
  /** Components that are left alone, because healing them is exhausted. */
  readonly exhausted: ReadonlySet<string>
}

export interface WindowsHealResult {
  readonly actions: readonly HealAction[]
  /** What the host still waited for at the end of the round, if anything. */
  readonly waitingFor: string | undefined
}

/**
 * Repairs drift and reconciles once, in a journaled run, if anything must be done. Does nothing if an
 * operator has claimed the host or another plan was applied since the observation.
 */
export async function healWindowsOnce(
  deps: WindowsHealDeps,
  input: WindowsHealInput,
  signal: AbortSignal,
): Promise<WindowsHealResult> {
  const { plan, drift } = input
  const first = await decideFirstStep(deps, input, signal)
  if (drift.length === 0 && first.kind !== 'step')
    return { actions: [], waitingFor: first.kind === 'wait' ? first.reason : undefined }
  const result: { actions: HealAction[]; waitingFor: string | undefined } = {
    actions: [],
    waitingFor: undefined,
  }
  const command = formatCommand(input, first)
  const failure = await runHealing(
    { ...deps, plan },
    command,
    async (run) => {
      result.waitingFor = await runActions(deps, input, run, result.actions)
    },
    signal,
  )
  if (failure !== undefined) throw failure
  return result
}

/** Decides the first step of a round without performing it. */
async function decideFirstStep(
  deps: WindowsHealDeps,
  input: WindowsHealInput,
  signal: AbortSignal,
): Promise<ReconcileDecision> {
  const { host, backoff } = deps
  const spec = await buildInstalledSpec(deps, input)
  if (spec === undefined) return { kind: 'healthy' }
  const reconcileDeps = buildDeps(host, input, async () => undefined, signal)
  const { observed, state } = await observeWorker(reconcileDeps, spec, await readReconcileState(host))
  const { exhausted } = input
  return decideNextStep({ spec, observed, state, backoff, exhausted, now: host.clock.now().getTime() })
}

async function runActions(
  { host, backoff }: WindowsHealDeps,
  input: WindowsHealInput,
  opRun: OpRunContext,
  actions: HealAction[],
): Promise<string | undefined> {
  const { plan, drift } = input
  const run: PlanRun<WindowsHost> = {
    ...opRun,
    host,
    plan,
    items: listResources(plan),
    through: stages.at(-1) ?? 'network',
    secrets: new Map(),
    certificates: new Map(),
    ledgerStore: new LedgerStore(host, await readLedgerFor(host, plan)),
  }
  for (const { op, error } of await repairWindowsDrift(run, drift))
    actions.push(buildAction(host, op.component, 'repair', `${op.name}: ${op.because.join(', ')}`, error))
  const spec = await buildInstalledSpec({ host }, input)
  if (spec === undefined) return undefined
  const derive = async ({ path }: { readonly path: string }): Promise<void> => {
    const op = buildDerivedFileOp(plan, path)
    await runOp(run, op, async () => performOp(run, op))
  }
  const reconcileDeps = buildDeps(host, input, derive, opRun.signal)
  const runStep = async (step: ReconcileStep): Promise<void> => {
    const message = formatStepMessage(step, spec, plan)
    const error = await performReported(reconcileDeps, spec, step, message, run).then(
      () => undefined,
      (caught: unknown) => ({ caught }),
    )
    const reason = error === undefined ? undefined : toPrintable(formatError(error.caught))
    const healAction = buildAction(host, message.component, message.action, message.text, reason)
    actions.push(message.code === undefined ? healAction : { ...healAction, code: message.code })
    if (error !== undefined) throw error.caught
  }
  const state = await readReconcileState(host)
  const save = async (next: typeof state): Promise<void> => writeReconcileState(host, next)
  const end = await reconcileOnce(reconcileDeps, spec, state, save, {
    backoff,
    exhausted: input.exhausted,
    runStep,
  })
  await save(end.state)
  return end.decision.kind === 'wait' ? end.decision.reason : undefined
}

/**
 * Performs a step. A step that concerns a resource of the plan gets a journal entry; other steps become log
 * lines of the run.
 */
async function performReported(
  reconcileDeps: ReconcileDeps,
  spec: WorkerSpec,
  step: ReconcileStep,
  { op, component, text }: StepMessage,
  run: OpRunContext,
): Promise<void> {
  if (op === undefined) {
    run.emit({ type: 'log', lines: [`${component}: ${text}`] }, component)
    await performReconcileStep(reconcileDeps, spec, step)
    return
  }
  await runOp(run, op, async () => {
    await performReconcileStep(reconcileDeps, spec, step)
    return 'done'
  })
}

async function buildInstalledSpec(
  { host }: Pick<WindowsHealDeps, 'host'>,
  { plan, stopped }: WindowsHealInput,
): Promise<WorkerSpec | undefined> {
  const spec = buildWorkerSpec(plan, await readLedgerFor(host, plan))
  if (spec === undefined) return undefined
  const services = Object.fromEntries(Object.entries(spec.services).filter(([role]) => !stopped.has(role)))
  return { ...spec, services }
}

function buildDeps(
  host: WindowsHost,
  { plan, unhealthy }: WindowsHealInput,
  derive: Parameters<typeof buildReconcileDeps>[2],
  signal: AbortSignal,
): ReconcileDeps {
  return { ...buildReconcileDeps(host, plan, derive, signal), unhealthy }
}

function buildDerivedFileOp({ components }: NodePlan, name: string): Op {
  const owner = components.find(({ derivedFiles }) => derivedFiles.some(({ path }) => path === name))
  const { name: component, stage } = owner ?? { name: 'host', stage: 'network' as const }
  return {
    component,
    stage,
    action: 'change',
    target: 'derived-file',
    name,
    because: ['rendered again'],
  }
}

function buildAction(
  { clock }: WindowsHost,
  component: string,
  action: HealAction['action'],
  because: string,
  error: string | undefined,
): HealAction {
  const at = clock.now().toISOString()
  const outcome =
    error === undefined
      ? { outcome: 'done' as const, details: [] }
      : { outcome: 'failed' as const, details: [error] }
  return { at, component, action, because: toPrintable(because), ...outcome }
}

function formatCommand({ drift, plan }: WindowsHealInput, first: ReconcileDecision): string {
  const [op] = drift
  if (op !== undefined) return toPrintable(`heal ${op.component}: repair ${op.name}`)
  return toPrintable(`heal ${plan.host}: ${first.kind === 'step' ? first.step.do : 'observe'}`)
}
