import type { Ledger } from '../../contract/ledger.ts'
import type { Op } from '../../contract/op.ts'
import type { Host } from '../host/host.ts'
import { readLedger } from '../records/ledger.ts'
import { journalRun } from '../records/run-op.ts'
import { runRemovalOp } from './reset.ts'
import { type HostRunOptions, openRemoval } from './stop-services.ts'

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
  const ledger = await readLedger(options.host)
  if (ledger === undefined) return
  const components = listUnfinishedMoves(ledger)
  const isReturned = ({ component, target }: Op): boolean =>
    components.includes(component) && (target === 'service' || target === 'predecessor')
  const { run, ops } = await openRemoval(options, ledger)
  await journalRun(run, { command: 'return components whose move was interrupted' }, async () => {
    for (const op of ops.filter(isReturned)) await runRemovalOp(run, op)
  })
}
