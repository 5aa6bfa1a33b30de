import type { Host } from '../host/host.ts'
import { readPair } from './installed-key-pair.ts'
import { type Pending, type PendingName, readPending } from './pending-certificate-store.ts'

/**
 * A key that was made to take the place of the one that is there. The very key that is in place waits for nothing: who
 * put it there was cut before it was forgotten.
 */
export async function waitingPair(
  host: Host,
  place: PendingName & { readonly keyFile: string },
): Promise<Pending | undefined> {
  const pending = await readPending(host, place)
  if (pending === undefined) return undefined
  const { privateKey } = await readPair(host, place)
  return pending.privateKey.revealText() === privateKey ? undefined : pending
}
