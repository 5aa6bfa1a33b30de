import { dirname } from 'node:path'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { formatError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import { applyOp, type PlanRun } from '../../apply/apply-op.ts'
import { listRestartedComponents, withoutPendingChange } from '../../records/ledger.ts'
import { unitFile } from '../../resources/systemd-service.ts'
import { type OpOutcome, runOp } from '../../records/run-op.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { UnitState } from '../../host/service-manager.ts'
import { detectDrift } from '../detect-drift.ts'
import { canDerive } from '../regenerate.ts'
import { existedBefore, showUntil, waitForStart } from './restart-service.ts'

export interface RepairResult {
  readonly done: readonly string[]
  readonly failed: readonly string[]
}

/**
 * Repairs drifted resources of a component without disrupting running services. If one repair fails, the
 * others still run.
 */
export async function repairComponent(run: PlanRun<LinuxHost>, component: string): Promise<RepairResult> {
  const { host, plan, signal } = run
  const { repairable: found } = await detectDrift(host, plan)
  const [done, failed]: [string[], string[]] = [[], []]
  for (const op of found.get(component) ?? []) {
    const description = `${op.target} ${op.name}: ${op.because.join(', ')}`
    try {
      if (!(await isSourceReady(host, plan, op))) {
        failed.push(`${description}; its source does not exist yet`)
        continue
      }
      await runOp(run, op, async () => repairResource(run, op))
      done.push(toPrintable(description))
    } catch (error) {
      signal.throwIfAborted()
      failed.push(toPrintable(`${description}; ${formatError(error)}`))
    }
  }
  return { done, failed }
}

async function isSourceReady(host: LinuxHost, plan: NodePlan, op: Op): Promise<boolean> {
  return op.target !== 'derived-file' || canDerive(host, plan, op.name)
}

async function repairResource(run: PlanRun<LinuxHost>, op: Op): Promise<OpOutcome> {
  const { host } = run
  const since = await findChangeTime(host, op)
  const crashed = since === undefined ? [] : await waitForCrashes(run, op, since)
  const before = await readUnitStates(run)
  const outcome = await applyOp(run, op)
  for (const unit of crashed) {
    before.set(unit, await host.services.show(unit))
    await host.services.restart(unit)
  }
  await recordUpToDateServices(run, op, since, before)
  if (op.target !== 'service') return outcome
  const { enabled } = await host.services.show(op.name)
  if (!enabled) await host.services.enable([op.name])
  await host.services.reload()
  return enabled ? outcome : 'done'
}

/**
 * Returns when a resource was changed, in nanoseconds since 1970. For a deleted resource this is the last
 * change of its directory.
 */
async function findChangeTime(
  { files, layout }: LinuxHost,
  { target, name }: Op,
): Promise<bigint | undefined> {
  if (target === 'artifact') return undefined
  const path = target === 'service' ? unitFile({ layout }, name) : name
  const facts = (await files.stat(path)) ?? (await files.stat(dirname(path)))
  return facts === undefined ? undefined : BigInt(facts.changed)
}

/** Milliseconds to wait until a service that started with wrong content exits. */
const crashTimeoutMs = 10_000

/**
 * Waits until each service that started after the drift has crashed, or until the timeout. Returns the
 * crashed services, which the repair must restart. Without that restart, systemd could start one of them just
 * before the repair. Which content that process has read would be unknown, so the next apply would restart
 * the service.
 */
async function waitForCrashes(run: PlanRun<LinuxHost>, op: Op, since: bigint): Promise<string[]> {
  const { host, signal } = run
  const deadline = host.clock.now().getTime() + crashTimeoutMs
  const crashed: string[] = []
  for (const unit of listReaders(run, op)) {
    const isDone = async ({ pid }: UnitState): Promise<boolean> =>
      pid === 0 || existedBefore(host, pid, since)
    const { sub } = await showUntil(host, unit, isDone, deadline, signal)
    if (sub.startsWith('auto-restart')) crashed.push(unit)
  }
  return crashed
}

/** Lists the systemd services that read the resource of an op when they start. */
function listReaders({ plan, ledgerStore, items }: PlanRun<LinuxHost>, op: Op): string[] {
  const readers = listRestartedComponents(ledgerStore.ledger, items, op)
  return plan.components.flatMap(({ name, service }) =>
    service?.supervisor === 'systemd' && readers.has(name) ? [service.name] : [],
  )
}

/** Returns the state of each systemd service of the plan (key: unit). */
async function readUnitStates({ host, plan }: PlanRun<LinuxHost>): Promise<Map<string, UnitState>> {
  const units = plan.components.flatMap(({ service }) =>
    service?.supervisor === 'systemd' ? [service.name] : [],
  )
  const states = await host.services.showAll(units)
  return new Map(
    states.flatMap((state, index) => (units[index] === undefined ? [] : [[units[index], state]])),
  )
}

/**
 * Records the services that need no restart after the repair. A process that started before the drift has
 * read the right content. A running program no longer needs its artifact. A service that has restarted since
 * the repair has read the repaired content.
 */
async function recordUpToDateServices(
  run: PlanRun<LinuxHost>,
  op: Op,
  since: bigint | undefined,
  before: ReadonlyMap<string, UnitState>,
): Promise<void> {
  const { host, ledgerStore, signal } = run
  for (const unit of listReaders(run, op)) {
    const { pid } = await host.services.show(unit)
    const hasRead = op.target === 'artifact' ? pid !== 0 : since && (await existedBefore(host, pid, since))
    const previous = before.get(unit)
    const isUpToDate = hasRead || (previous && (await hasRestarted(host, unit, previous, signal)))
    if (isUpToDate) await ledgerStore.save(withoutPendingChange(ledgerStore.ledger, unit, op.name))
  }
}

/**
 * Milliseconds to wait until a crashed service has restarted. On a busy host a service takes seconds to exit,
 * and systemd restarts it two seconds later.
 */
const restartTimeoutMs = 20_000

async function hasRestarted(
  host: LinuxHost,
  unit: string,
  before: UnitState,
  signal: AbortSignal,
): Promise<boolean> {
  const { pid, invocation } = await waitForStart(host, unit, before, restartTimeoutMs, signal)
  return pid !== 0 && invocation !== before.invocation
}
