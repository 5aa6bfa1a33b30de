import type { Op } from '../../../contract/op.ts'
import { describe } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import { restartedFor, withSeen } from '../../apply/ledger.ts'
import { perform, type PlanRun } from '../../apply/apply-op.ts'
import { runOp } from '../../apply/run-op.ts'
import { canDerive } from '../../heal/actions/regenerate.ts'
import type { WindowsHost } from '../../host/host.ts'
import { dirname } from '../../host/host-path.ts'

export interface PutBack {
  readonly op: Op
  /** Why it could not be. */
  readonly error?: string
}

/** Makes things as they were put there, and disturbs nothing that runs. One that cannot be keeps none of the others away. */
export async function putBackAll(run: PlanRun<WindowsHost>, ops: readonly Op[]): Promise<readonly PutBack[]> {
  const { host, plan, signal } = run
  const done: PutBack[] = []
  for (const op of ops) {
    if (op.target === 'derived-file' && !(await canDerive(host, plan, op.name))) continue
    try {
      const since = await spoiltSince(host, op)
      await runOp(run, op, async () => perform(run, op))
      await tellSeen(run, op, since)
      done.push({ op })
    } catch (error) {
      signal.throwIfAborted()
      done.push({ op, error: printable(describe(error)) })
    }
  }
  return done
}

/** When it became another one; what is gone was there until its directory changed. In milliseconds. */
async function spoiltSince({ files }: WindowsHost, { target, name }: Op): Promise<number | undefined> {
  if (target === 'artifact') return undefined
  const facts = (await files.stat(name)) ?? (await files.stat(dirname(name)))
  return facts === undefined ? undefined : Number(BigInt(facts.changed) / 1_000_000n)
}

/**
 * A process that was there before somebody spoilt a thing has read it as it is again now, and need not start for it. Of a
 * program it has all that it needs in any case.
 */
async function tellSeen(
  { host, plan, book, items }: PlanRun<WindowsHost>,
  op: Op,
  since: number | undefined,
): Promise<void> {
  const readers = restartedFor(book.ledger, items, op)
  if (readers.size === 0) return
  const processes = await host.operations.processes.list({ below: host.layout.base })
  for (const { name, service } of plan.components) {
    if (service === undefined || !readers.has(name)) continue
    const { pid } = await host.services.show(service.name)
    const process = processes.find(({ id }) => id === pid)
    const hasRead =
      process !== undefined &&
      (op.target === 'artifact' || (since !== undefined && Date.parse(process.startedAt) < since))
    if (hasRead) await book.keep(withSeen(book.ledger, service.name, op.name))
  }
}
