import type { Op } from '../../../contract/op.ts'
import { buildEmptyPlan } from '../../../diff/empty-plan.ts'
import { openJournal } from '../journal.ts'
import { withStopped } from '../ledger.ts'
import { LedgerStore, readLedger } from '../ledger-store.ts'
import { journalRun, type OpOutcome, type Run, runOp } from '../run-op.ts'
import { stopService } from '../start-service.ts'
import { diffAgainstLedger } from './diff-against-ledger.ts'
import type { ResetOptions } from './reset-options.ts'

export interface StopServicesOptions {
  readonly components: readonly string[]
  /** True if services are killed instead of stopped cleanly. */
  readonly immediately?: boolean | undefined
}

/** Stops the services of some components and nothing else. The next apply of the plan starts them again. */
export async function stopComponentServices(
  options: ResetOptions,
  { components, immediately = false }: StopServicesOptions,
): Promise<void> {
  const { host, name } = options
  const ledger = await readLedger(host)
  if (ledger === undefined) return
  const stops = diffAgainstLedger(buildEmptyPlan(ledger.cluster, name), ledger).filter(
    ({ action, component }) => action === 'stop' && components.includes(component),
  )
  const run: Run = {
    ...options,
    ledgerStore: new LedgerStore(host, ledger),
    journal: await openJournal(host, options.run),
  }
  await journalRun(run, { command: 'stop-services' }, async () => {
    for (const op of stops) {
      await runOp(run, op, async () => {
        const outcome = await stopOp(run, op, immediately)
        await run.ledgerStore.save(withStopped(run.ledgerStore.ledger, op.name))
        return outcome
      })
    }
  })
}

export async function stopOp(
  { host, emit, signal }: Run,
  { name, component }: Op,
  immediately = false,
): Promise<OpOutcome> {
  return (await stopService(host, name, component, emit, signal, immediately)) ? 'done' : 'unchanged'
}
