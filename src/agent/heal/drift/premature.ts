import type { LedgerThing } from '../../../contract/ledger.ts'
import type { Host } from '../../host/host.ts'

/** In milliseconds. By then whoever writes the source has been asked whether it is right. */
const settledAfter = 120_000

/**
 * Whether a derived file is as we made it, and only its source has become another one just now. A source that somebody has
 * spoilt is its owner's to mend, which takes less than this; what follows from it must not come before.
 */
export async function isPremature({ files, clock }: Host, thing: LedgerThing): Promise<boolean> {
  if (thing.target !== 'derived-file') return false
  const source = await files.stat(thing.from)
  if (source === undefined || (await files.stat(thing.name))?.kind !== 'file') return false
  if ((await files.digest(thing.name)) !== thing.sha256) return false
  const changed = Number(BigInt(source.changed) / 1_000_000n)
  return clock.now().getTime() - changed < settledAfter
}
