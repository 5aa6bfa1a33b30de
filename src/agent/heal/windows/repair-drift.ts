import type { Op } from '../../../contract/op.ts'
import { formatError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import { listRestartedComponents, withoutPendingChange } from '../../records/ledger.ts'
import { applyOp, type PlanRun } from '../../apply/apply-op.ts'
import { runOp } from '../../records/run-op.ts'
import { canDerive } from '../regenerate.ts'
import type { WindowsHost } from '../../host/host.ts'
import { dirname } from '../../host/host-path.ts'

export interface WindowsRepairResult {
  readonly op: Op
  /** Error message, if the repair failed. */
  readonly error?: string
}

/** Repairs resources without disturbing running services. A failed repair does not prevent the others. */
export async function repairWindowsDrift(
  run: PlanRun<WindowsHost>,
  ops: readonly Op[],
): Promise<readonly WindowsRepairResult[]> {
  const { host, plan, signal } = run
  const results: WindowsRepairResult[] = []
  for (const op of ops) {
    if (op.target === 'derived-file' && !(await canDerive(host, plan, op.name))) continue
    try {
      const since = await findChangeTime(host, op)
      await runOp(run, op, async () => applyOp(run, op))
      await recordAsRead(run, op, since)
      results.push({ op })
    } catch (error) {
      signal.throwIfAborted()
      results.push({ op, error: toPrintable(formatError(error)) })
    }
  }
  return results
}

/**
 * Returns when the resource changed, in milliseconds since 1970. For a missing file this is the last change
 * of its directory.
 */
async function findChangeTime({ files }: WindowsHost, { target, name }: Op): Promise<number | undefined> {
  if (target === 'artifact') return undefined
  const facts = (await files.stat(name)) ?? (await files.stat(dirname(name)))
  return facts === undefined ? undefined : Number(BigInt(facts.changed) / 1_000_000n)
}

/**
 * Records that running processes need no restart after a repair. Either they read the file before it was
 * changed, or the op repairs their program file, which a running process does not read again.
 */
async function recordAsRead(
  { host, plan, ledgerStore, items }: PlanRun<WindowsHost>,
  op: Op,
  since: number | undefined,
): Promise<void> {
  const readers = listRestartedComponents(ledgerStore.ledger, items, op)
  if (readers.size === 0) return
  const processes = await host.operations.processes.list({ below: host.layout.base })
  for (const { name, service } of plan.components) {
    if (service === undefined || !readers.has(name)) continue
    const { pid } = await host.services.show(service.name)
    const process = processes.find(({ id }) => id === pid)
    const hasRead =
      process !== undefined &&
      (op.target === 'artifact' || (since !== undefined && Date.parse(process.startedAt) < since))
    if (hasRead) await ledgerStore.save(withoutPendingChange(ledgerStore.ledger, service.name, op.name))
  }
}
