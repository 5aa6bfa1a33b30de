import type { Ledger } from '../../contract/ledger.ts'
import type { Op } from '../../contract/op.ts'
import { buildEmptyPlan } from '../../diff/plan-resources.ts'
import type { Host } from '../host/host.ts'
import { openJournal } from '../records/journal.ts'
import { LedgerStore, readLedger } from '../records/ledger.ts'
import { journalRun, type Run, runOp } from '../records/run-op.ts'
import { removeLedgerResource } from './reset.ts'
import { diffAgainstLedger, type HostRunOptions, stopOp } from './stop-services.ts'

/**
 * Lists the components that have ended their predecessor but never ran. A run that was interrupted leaves such
 * components, for example by a power cut.
 */
export function listUnfinishedMoves({ resources }: Pick<Ledger, 'resources'>): readonly string[] {
  const running = new Set(
    resources.flatMap((resource) =>
      resource.target === 'service' && resource.started
        ? resource.owners.map(({ component }) => component)
        : [],
    ),
  )
  return resources.flatMap((resource) =>
    resource.target === 'predecessor' && resource.kept
      ? resource.owners.map(({ component }) => component).filter((component) => !running.has(component))
      : [],
  )
}

export async function readUnfinishedMoves(host: Host): Promise<readonly string[]> {
  const ledger = await readLedger(host)
  return ledger === undefined ? [] : listUnfinishedMoves(ledger)
}

/** Returns the components with an unfinished move to their predecessors. Everything else stays. */
export async function returnUnfinishedMoves(options: HostRunOptions): Promise<void> {
  const { host, name } = options
  const ledger = await readLedger(host)
  if (ledger === undefined) return
  const components = listUnfinishedMoves(ledger)
  const isReturned = ({ component, target }: Op): boolean =>
    components.includes(component) && (target === 'service' || target === 'predecessor')
  const ops = diffAgainstLedger(buildEmptyPlan(ledger.cluster, name), ledger).filter(isReturned)
  const run: Run = {
    ...options,
    ledgerStore: new LedgerStore(host, ledger),
    journal: await openJournal(host, options.run),
  }
  await journalRun(run, { command: 'return components whose move was interrupted' }, async () => {
    for (const op of ops)
      await runOp(run, op, async () =>
        op.action === 'stop' ? stopOp(run, op) : removeLedgerResource(run, op),
      )
  })
}
