import type { LedgerResource } from '../../../contract/ledger.ts'
import type { Host } from '../../host/host.ts'

/** In milliseconds. By then probes have verified the component that writes the source. */
const settleMs = 120_000

/**
 * Whether a derived file is as we made it, and only its source has just changed. A corrupted source is
 * repaired by its owner in less than this time; the derived file must not change before.
 */
export async function isSourceSettling({ files, clock }: Host, thing: LedgerResource): Promise<boolean> {
  if (thing.target !== 'derived-file') return false
  const source = await files.stat(thing.from)
  if (source === undefined || (await files.stat(thing.name))?.kind !== 'file') return false
  if ((await files.digest(thing.name)) !== thing.sha256) return false
  const changed = Number(BigInt(source.changed) / 1_000_000n)
  return clock.now().getTime() - changed < settleMs
}
