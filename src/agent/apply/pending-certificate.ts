import type { Host } from '../host/host.ts'
import { readInstalledPair } from './installed-key-pair.ts'
import {
  type PendingCertificate,
  type PendingCertificateSpec,
  readPendingCertificate,
} from './pending-certificate-store.ts'

/**
 * Returns the pending key pair that will replace the installed one. A pending key that equals the installed
 * one is ignored: the run that installed it was interrupted before it deleted the pending files.
 */
export async function findPendingReplacement(
  host: Host,
  planned: PendingCertificateSpec & { readonly keyFile: string },
): Promise<PendingCertificate | undefined> {
  const pending = await readPendingCertificate(host, planned)
  if (pending === undefined) return undefined
  const { privateKey } = await readInstalledPair(host, planned)
  return pending.privateKey.revealText() === privateKey ? undefined : pending
}
