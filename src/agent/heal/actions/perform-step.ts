import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { stages } from '../../../contract/stage.ts'
import { items } from '../../../diff/plan-resources.ts'
import { describe } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import { ledgerFor } from '../../apply/diff-host.ts'
import { LedgerBook } from '../../apply/ledger-store.ts'
import type { PlanRun } from '../../apply/apply-op.ts'
import type { OpRun } from '../../apply/run-op.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { HealStep } from '../decision/heal-step.ts'
import { captureLogs } from './capture-logs.ts'
import { healingRun, type HealingScene } from './healing-run.ts'
import { putBack } from './repair-component.ts'
import { rebuild, type Sources, sourcesOf } from './regenerate.ts'
import { restartComponent, unitOf } from './restart-component.ts'

export interface ActScene extends HealingScene {
  readonly host: LinuxHost
}

/**
 * Does what was decided, as a run like any other. Nothing, when somebody else has come meanwhile who decides what is done
 * here, or another plan. Whatever fails is told; only an abort is thrown.
 */
export async function performStep(
  scene: ActScene,
  step: HealStep,
  signal: AbortSignal,
): Promise<HealAction[]> {
  signal.throwIfAborted()
  const { host } = scene
  const done: HealAction[] = []
  const command = commandOf(step)
  const failure = await healingRun(
    scene,
    command,
    async (run) => actAll(scene, step, run, done),
    signal,
  ).catch((error: unknown) => error)
  signal.throwIfAborted()
  const first = step.actions.at(done.length)
  if (failure !== undefined && first !== undefined)
    done.push(told(host, step, first, { outcome: 'failed', details: [printable(describe(failure))] }))
  return done
}

type Came = Pick<HealAction, 'outcome' | 'details'>

async function actAll(scene: ActScene, step: HealStep, run: OpRun, done: HealAction[]): Promise<void> {
  const { host, plan } = scene
  // What is derived from what a service writes at its start comes after that.
  const late = (action: HealAction['action']): number =>
    Number(action === 'rebuild' && step.actions.includes('restart'))
  const ordered = step.actions.toSorted((a, b) => late(a) - late(b))
  const before = step.actions.includes('restart') ? await sourcesOf(host, plan, step.component) : undefined
  for (const action of ordered) {
    run.signal.throwIfAborted()
    const came = await act(scene, step, run, action, before).catch((error: unknown): Came => {
      run.signal.throwIfAborted()
      return { outcome: 'failed', details: [printable(describe(error))] }
    })
    done.push(told(host, step, action, came))
  }
}

async function act(
  { host, plan }: ActScene,
  step: HealStep,
  run: OpRun,
  action: HealAction['action'],
  before: Sources | undefined,
): Promise<Came> {
  const { component } = step
  switch (action) {
    case 'restart':
      return well(await restartComponent(host, plan, step, run))
    case 'put-back': {
      const { done, failed } = await putBack(await planRun(host, plan, run), component)
      return { outcome: failed.length === 0 ? 'done' : 'failed', details: [...done, ...failed] }
    }
    case 'rebuild':
      return well(await rebuild(await planRun(host, plan, run), component, before))
    case 'capture-logs': {
      const unit = unitOf(plan, component)
      return well(unit === undefined ? [] : await captureLogs(host, component, unit.name))
    }
    default:
      // To give up, to refuse and to be well again is said, and nothing else is done.
      return well([])
  }
}

async function planRun(host: LinuxHost, plan: NodePlan, run: OpRun): Promise<PlanRun<LinuxHost>> {
  return {
    ...run,
    host,
    plan,
    items: items(plan),
    through: stages.at(-1) ?? 'network',
    secrets: new Map(),
    certificates: new Map(),
    book: new LedgerBook(host, await ledgerFor(host, plan)),
  }
}

function well(details: readonly string[]): Came {
  return { outcome: 'done', details: [...details] }
}

function told(
  { clock }: LinuxHost,
  { component, because, code }: HealStep,
  action: HealAction['action'],
  came: Came,
): HealAction {
  const at = clock.now().toISOString()
  return { at, component, action, because, ...(code === undefined ? {} : { code }), ...came }
}

function commandOf({ component, actions, because }: HealStep): string {
  return printable(`heal ${component}: ${actions.join(', ')}, because ${because}`)
}
