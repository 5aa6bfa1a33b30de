import { dirname } from 'node:path'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { describe } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import { restartedFor, withSeen } from '../../apply/ledger.ts'
import { perform, type PlanRun } from '../../apply/apply-op.ts'
import { type Outcome, runOp } from '../../apply/run-op.ts'
import { unitFile } from '../../apply/resources/systemd-service.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { UnitState } from '../../host/systemd.ts'
import { lookAtDrift } from '../drift/detect-drift.ts'
import { canDerive } from './regenerate.ts'
import { wasThereBefore } from './process-state.ts'
import { started } from './restart-service.ts'

export interface PutBack {
  readonly done: readonly string[]
  readonly failed: readonly string[]
}

/**
 * Makes things of a component as they were put there, and disturbs nothing that runs. One that cannot be keeps none of the
 * others away.
 */
export async function putBack(run: PlanRun<LinuxHost>, component: string): Promise<PutBack> {
  const { host, plan, signal } = run
  const { putBack: found } = await lookAtDrift(host, plan)
  const [done, failed]: [string[], string[]] = [[], []]
  for (const op of found.get(component) ?? []) {
    const what = `${op.target} ${op.name}: ${op.because.join(', ')}`
    try {
      if (!(await isPossible(host, plan, op))) {
        failed.push(`${what}, and what it is made from is not there yet`)
        continue
      }
      await runOp(run, op, async () => putOneBack(run, op))
      done.push(printable(what))
    } catch (error) {
      signal.throwIfAborted()
      failed.push(printable(`${what}; ${describe(error)}`))
    }
  }
  return { done, failed }
}

async function isPossible(host: LinuxHost, plan: NodePlan, op: Op): Promise<boolean> {
  return op.target !== 'derived-file' || canDerive(host, plan, op.name)
}

async function putOneBack(run: PlanRun<LinuxHost>, op: Op): Promise<Outcome> {
  const { host } = run
  const since = await spoiltSince(host, op)
  const before = await runsOf(run)
  const outcome = await perform(run, op)
  await tellSeen(run, op, since, before)
  if (op.target !== 'service') return outcome
  const { enabled } = await host.systemd.show(op.name)
  if (!enabled) await host.systemd.enable([op.name])
  await host.systemd.reload()
  return enabled ? outcome : 'done'
}

/** When it became another one, in nanoseconds; what is gone was there until its directory changed. */
async function spoiltSince({ files, layout }: LinuxHost, { target, name }: Op): Promise<bigint | undefined> {
  if (target === 'artifact') return undefined
  const path = target === 'service' ? unitFile({ layout }, name) : name
  const facts = (await files.stat(path)) ?? (await files.stat(dirname(path)))
  return facts === undefined ? undefined : BigInt(facts.changed)
}

/** Which start each service is at, by its unit. */
async function runsOf({ host, plan }: PlanRun<LinuxHost>): Promise<ReadonlyMap<string, UnitState>> {
  const units = plan.components.flatMap(({ service }) =>
    service?.supervisor === 'systemd' ? [service.name] : [],
  )
  const states = await host.systemd.showAll(units)
  return new Map(
    states.flatMap((state, index) => (units[index] === undefined ? [] : [[units[index], state]])),
  )
}

/**
 * A process that was there before somebody spoilt a thing has read it as it is again now, and need not start for it. Of a
 * program it has all that it needs in any case. Nor has one that ends over it: it starts again by itself.
 */
async function tellSeen(
  { host, plan, book, items, signal }: PlanRun<LinuxHost>,
  op: Op,
  since: bigint | undefined,
  before: ReadonlyMap<string, UnitState>,
): Promise<void> {
  const readers = restartedFor(book.ledger, items, op)
  for (const { name, service } of plan.components) {
    if (service?.supervisor !== 'systemd' || !readers.has(name)) continue
    const { pid } = await host.systemd.show(service.name)
    const hasRead = op.target === 'artifact' ? pid !== 0 : since && (await wasThereBefore(host, pid, since))
    const former = before.get(service.name)
    const knows = hasRead || (former && (await startsAnew(host, service.name, former, signal)))
    if (knows) await book.keep(withSeen(book.ledger, service.name, op.name))
  }
}

/** On a busy host a program needs some seconds until it has ended over what it read; two later systemd starts it again. In milliseconds. */
const soon = 20_000

async function startsAnew(
  host: LinuxHost,
  unit: string,
  before: UnitState,
  signal: AbortSignal,
): Promise<boolean> {
  const { pid, invocation } = await started(host, unit, before, soon, signal)
  return pid !== 0 && invocation !== before.invocation
}
