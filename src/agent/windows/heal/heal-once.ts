import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { stages } from '../../../contract/stage.ts'
import { items } from '../../../diff/plan-resources.ts'
import { describe } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import { ledgerFor } from '../../apply/diff-host.ts'
import { LedgerBook } from '../../apply/ledger-store.ts'
import { perform as performOp, type PlanRun } from '../../apply/apply-op.ts'
import { type OpRun, runOp } from '../../apply/run-op.ts'
import { healingRun } from '../../heal/actions/healing-run.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { TakenScene } from '../../loop/is-locked-by-other.ts'
import type { Runs } from '../../runs/runs.ts'
import { type Decision, decide } from '../reconcile/decide-next-step.ts'
import type { WorkerEdges } from '../reconcile/reconcile-deps.ts'
import { look } from '../reconcile/observe-worker.ts'
import type { Pace } from '../reconcile/backoff.ts'
import { perform } from '../reconcile/perform-step.ts'
import { round } from '../reconcile/reconcile-once.ts'
import type { Step } from '../reconcile/step.ts'
import type { Role, WorkerWish } from '../reconcile/worker-spec.ts'
import { putBackAll } from './repair-drift.ts'
import { type StepWords, wordsFor } from './step-messages.ts'
import { workerEdges } from './build-reconcile-deps.ts'
import { readWorkerMemory, writeWorkerMemory } from './reconcile-state.ts'
import { workerWishOf } from './build-worker-spec.ts'

export interface KeepScene extends TakenScene {
  readonly host: WindowsHost
  readonly runs: Runs
  readonly pace: Pace
  readonly signal: AbortSignal
}

/** What was seen of a host that is kept as its plan says. */
export interface Found {
  readonly plan: NodePlan
  /** Files and programs that are not as they were put there. */
  readonly drift: readonly Op[]
  /** Which run and have said often enough that they are not well. */
  readonly unwell: ReadonlySet<Role>
  /** Those whose services an operator has stopped through us. */
  readonly stopped: ReadonlySet<string>
}

export interface Kept {
  readonly actions: readonly HealAction[]
  /** What is waited for at last, if anything. */
  readonly waits: string | undefined
}

/**
 * Puts back what has changed and takes a round, as a run like any other, where there is anything to do. Nothing, when
 * somebody else has come meanwhile who decides what is done here, or another plan.
 */
export async function keepOnce(scene: KeepScene, found: Found): Promise<Kept> {
  const { signal } = scene
  const { plan, drift } = found
  const first = await peek(scene, found)
  if (drift.length === 0 && first.kind !== 'step')
    return { actions: [], waits: first.kind === 'wait' ? first.reason : undefined }
  const kept: { actions: HealAction[]; waits: string | undefined } = { actions: [], waits: undefined }
  const command = commandOf(found, first)
  const failure = await healingRun(
    { ...scene, plan },
    command,
    async (run) => {
      kept.waits = await actAll(scene, found, run, kept.actions)
    },
    signal,
  )
  if (failure !== undefined) throw failure
  return kept
}

/** What a round would begin with. */
async function peek(scene: KeepScene, found: Found): Promise<Decision> {
  const { host, pace, signal } = scene
  const wish = await wishFor(scene, found)
  if (wish === undefined) return { kind: 'well' }
  const edges = edgesFor(host, found, async () => undefined, signal)
  const { seen, memory } = await look(edges, wish, await readWorkerMemory(host))
  return decide({ wish, seen, memory, pace, now: host.clock.now().getTime() })
}

async function actAll(
  { host, pace }: KeepScene,
  found: Found,
  opRun: OpRun,
  actions: HealAction[],
): Promise<string | undefined> {
  const { plan, drift } = found
  const run: PlanRun<WindowsHost> = {
    ...opRun,
    host,
    plan,
    items: items(plan),
    through: stages.at(-1) ?? 'network',
    secrets: new Map(),
    certificates: new Map(),
    book: new LedgerBook(host, await ledgerFor(host, plan)),
  }
  for (const { op, error } of await putBackAll(run, drift))
    actions.push(actionOf(host, op.component, 'put-back', `${op.name}: ${op.because.join(', ')}`, error))
  const wish = await wishFor({ host }, found)
  if (wish === undefined) return undefined
  const derive = async ({ path }: { readonly path: string }): Promise<void> => {
    const op = opFor(plan, path)
    await runOp(run, op, async () => performOp(run, op))
  }
  const edges = edgesFor(host, found, derive, opRun.signal)
  const take = async (step: Step): Promise<void> => {
    const words = wordsFor(step, wish, plan)
    const error = await taken(edges, wish, step, words, run).then(
      () => undefined,
      (caught: unknown) => ({ caught }),
    )
    const why = error === undefined ? undefined : printable(describe(error.caught))
    const done = actionOf(host, words.component, words.action, words.text, why)
    actions.push(words.code === undefined ? done : { ...done, code: words.code })
    if (error !== undefined) throw error.caught
  }
  const memory = await readWorkerMemory(host)
  const keep = async (next: typeof memory): Promise<void> => writeWorkerMemory(host, next)
  const end = await round(edges, wish, memory, keep, { pace, take })
  await keep(end.memory)
  return end.decision.kind === 'wait' ? end.decision.reason : undefined
}

/** With its line in the journal, where it is about something of the plan; all others are lines of the run. */
async function taken(
  edges: WorkerEdges,
  wish: WorkerWish,
  step: Step,
  { op, component, text }: StepWords,
  run: OpRun,
): Promise<void> {
  if (op === undefined) {
    run.emit({ type: 'log', lines: [`${component}: ${text}`] }, component)
    await perform(edges, wish, step)
    return
  }
  await runOp(run, op, async () => {
    await perform(edges, wish, step)
    return 'done'
  })
}

async function wishFor(
  { host }: Pick<KeepScene, 'host'>,
  { plan, stopped }: Found,
): Promise<WorkerWish | undefined> {
  const wish = workerWishOf(plan, await ledgerFor(host, plan))
  if (wish === undefined) return undefined
  const services = Object.fromEntries(Object.entries(wish.services).filter(([role]) => !stopped.has(role)))
  return { ...wish, services }
}

function edgesFor(
  host: WindowsHost,
  { plan, unwell }: Found,
  derive: Parameters<typeof workerEdges>[2],
  signal: AbortSignal,
): WorkerEdges {
  return { ...workerEdges(host, plan, derive, signal), unwell }
}

function opFor({ components }: NodePlan, name: string): Op {
  const owner = components.find(({ derivedFiles }) => derivedFiles.some(({ path }) => path === name))
  const { name: component, stage } = owner ?? { name: 'host', stage: 'network' as const }
  return { component, stage, action: 'change', target: 'derived-file', name, because: ['it is made anew'] }
}

function actionOf(
  { clock }: WindowsHost,
  component: string,
  action: HealAction['action'],
  because: string,
  error: string | undefined,
): HealAction {
  const at = clock.now().toISOString()
  const came =
    error === undefined
      ? { outcome: 'done' as const, details: [] }
      : { outcome: 'failed' as const, details: [error] }
  return { at, component, action, because: printable(because), ...came }
}

function commandOf({ drift, plan }: Found, first: Decision): string {
  const [op] = drift
  if (op !== undefined) return printable(`heal ${op.component}: put back ${op.name}`)
  return printable(`heal ${plan.host}: ${first.kind === 'step' ? first.step.do : 'look'}`)
}
