import { stages } from '../../../contract/component-plan.ts'
import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { listResources } from '../../../diff/plan-resources.ts'
import { formatError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import type { PlanRun } from '../../apply/apply-op.ts'
import { readLedgerFor } from '../../apply/diff-host.ts'
import { LedgerStore } from '../../records/ledger.ts'
import type { OpRunContext } from '../../records/run-op.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { HealStep } from '../decision/decision-input.ts'
import { type HealingRunDeps, runHealing } from '../healing-run.ts'
import { readSourceTimes, regenerateDerivedFiles, type SourceTimes } from '../regenerate.ts'
import { captureServiceLogs } from './capture-logs.ts'
import { repairComponent } from './repair-component.ts'
import { findUnit, restartComponent } from './restart-component.ts'

export interface PerformStepDeps extends HealingRunDeps {
  readonly host: LinuxHost
}

/**
 * Performs a decided step in a journaled run. Does nothing if an operator has claimed the host or another
 * plan was applied since the decision. Failures are returned as actions; only an abort is thrown.
 */
export async function performStep(
  deps: PerformStepDeps,
  step: HealStep,
  signal: AbortSignal,
): Promise<HealAction[]> {
  signal.throwIfAborted()
  const { host } = deps
  const done: HealAction[] = []
  const command = formatCommand(step)
  const failure = await runHealing(
    deps,
    command,
    async (run) => performActions(deps, step, run, done),
    signal,
  ).catch((error: unknown) => error)
  signal.throwIfAborted()
  const failedAction = step.actions.at(done.length)
  if (failure !== undefined && failedAction !== undefined)
    done.push(
      toHealAction(host, step, failedAction, {
        outcome: 'failed',
        details: [toPrintable(formatError(failure))],
      }),
    )
  return done
}

type ActionResult = Pick<HealAction, 'outcome' | 'details'>

async function performActions(
  deps: PerformStepDeps,
  step: HealStep,
  run: OpRunContext,
  done: HealAction[],
): Promise<void> {
  const { host, plan } = deps
  // Derived files are regenerated after the restart, because the service writes their source when it starts.
  const order = (action: HealAction['action']): number =>
    Number(action === 'regenerate' && step.actions.includes('restart'))
  const ordered = step.actions.toSorted((a, b) => order(a) - order(b))
  const before = step.actions.includes('restart')
    ? await readSourceTimes(host, plan, step.component)
    : undefined
  for (const action of ordered) {
    run.signal.throwIfAborted()
    const result = await performAction(deps, step, run, action, before).catch(
      (error: unknown): ActionResult => {
        run.signal.throwIfAborted()
        return { outcome: 'failed', details: [toPrintable(formatError(error))] }
      },
    )
    done.push(toHealAction(host, step, action, result))
  }
}

async function performAction(
  { host, plan }: PerformStepDeps,
  step: HealStep,
  run: OpRunContext,
  action: HealAction['action'],
  before: SourceTimes | undefined,
): Promise<ActionResult> {
  const { component } = step
  switch (action) {
    case 'restart':
      return succeed(await restartComponent(host, plan, step, run))
    case 'repair': {
      const { done, failed } = await repairComponent(await createPlanRun(host, plan, run), component)
      return { outcome: failed.length === 0 ? 'done' : 'failed', details: [...done, ...failed] }
    }
    case 'regenerate':
      return succeed(await regenerateDerivedFiles(await createPlanRun(host, plan, run), component, before))
    case 'capture-logs': {
      const unit = findUnit(plan, component)
      return succeed(unit === undefined ? [] : await captureServiceLogs(host, component, unit.name))
    }
    default:
      // `give-up`, `refuse` and `recovered` change nothing; they are only reported.
      return succeed([])
  }
}

async function createPlanRun(
  host: LinuxHost,
  plan: NodePlan,
  run: OpRunContext,
): Promise<PlanRun<LinuxHost>> {
  return {
    ...run,
    host,
    plan,
    items: listResources(plan),
    through: stages.at(-1) ?? 'network',
    secrets: new Map(),
    certificates: new Map(),
    ledgerStore: new LedgerStore(host, await readLedgerFor(host, plan)),
  }
}

function succeed(details: readonly string[]): ActionResult {
  return { outcome: 'done', details: [...details] }
}

function toHealAction(
  { clock }: LinuxHost,
  { component, because, code }: HealStep,
  action: HealAction['action'],
  result: ActionResult,
): HealAction {
  const at = clock.now().toISOString()
  return { at, component, action, because, ...(code === undefined ? {} : { code }), ...result }
}

function formatCommand({ component, actions, because }: HealStep): string {
  return toPrintable(`heal ${component}: ${actions.join(', ')}, because ${because}`)
}
