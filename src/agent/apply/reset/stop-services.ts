import type { Op } from '../../../contract/op.ts'
import { nothingPlanned } from '../../../diff/empty-plan.ts'
import { openJournal } from '../journal.ts'
import { withStopped } from '../ledger.ts'
import { LedgerBook, readLedger } from '../ledger-store.ts'
import { journalRun, type Outcome, type Run, runOp } from '../run-op.ts'
import { stopService } from '../start-service.ts'
import { opsAgainst } from './diff-against-ledger.ts'
import type { ResetOptions } from './reset.ts'

export interface StopWish {
  readonly components: readonly string[]
  /** Without time to end what they are at. */
  readonly atOnce?: boolean | undefined
}

/** Stops the services of some components, and nothing else: whoever is asked for its plan again starts them. */
export async function stopServices(
  options: ResetOptions,
  { components, atOnce = false }: StopWish,
): Promise<void> {
  const { host, name } = options
  const ledger = await readLedger(host)
  if (ledger === undefined) return
  const stops = opsAgainst(nothingPlanned(ledger.cluster, name), ledger).filter(
    ({ action, component }) => action === 'stop' && components.includes(component),
  )
  const run: Run = {
    ...options,
    book: new LedgerBook(host, ledger),
    journal: await openJournal(host, options.run),
  }
  await journalRun(run, { command: 'stop-services' }, async () => {
    for (const op of stops) {
      await runOp(run, op, async () => {
        const outcome = await stop(run, op, atOnce)
        await run.book.keep(withStopped(run.book.ledger, op.name))
        return outcome
      })
    }
  })
}

export async function stop(
  { host, emit, signal }: Run,
  { name, component }: Op,
  atOnce = false,
): Promise<Outcome> {
  return (await stopService(host, name, component, emit, signal, atOnce)) ? 'done' : 'unchanged'
}
