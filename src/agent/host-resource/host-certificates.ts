import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { HostCertificate } from '../../contract/host-resource.ts'
import { inspectCertificate } from '../../pki/certificates.ts'
import { renewalTime } from '../../pki/lifetime.ts'
import type { WatchedPlan } from '../heal/watch-host.ts'
import type { Host } from '../host/host.ts'

export type ReadHostCertificates = () => Promise<HostCertificate[]>

/**
 * Returns a function that reads the planned certificates that exist. It reads a file again only if the file
 * has changed.
 */
export function createCertificateReader(
  host: Host,
  plan: () => Promise<WatchedPlan | undefined>,
): ReadHostCertificates {
  const cache = new Map<string, { readonly stamp: string; readonly found: HostCertificate[] }>()
  const readCached = async (component: string, planned: PlannedCertificate): Promise<HostCertificate[]> => {
    const file = planned.certificateFile
    const stamp = await readCertificateStamp(host, planned)
    const before = cache.get(file)
    if (before?.stamp === stamp) return before.found
    const found = await readCertificate(host, component, file)
    cache.set(file, { stamp, found })
    return found
  }
  return async () => {
    const all: HostCertificate[] = []
    for (const { name, certificates } of (await plan())?.plan.components ?? []) {
      for (const planned of certificates) all.push(...(await readCached(name, planned)))
    }
    return all
  }
}

/**
 * Reads one certificate. A missing or invalid certificate is skipped, because the health of its component
 * reports it.
 */
async function readCertificate({ files }: Host, component: string, file: string): Promise<HostCertificate[]> {
  try {
    const facts = inspectCertificate((await files.read(file))?.toString('utf8') ?? '')
    const [notAfter, renewAfter] = [facts.notAfter.toISOString(), renewalTime(facts).toISOString()]
    return [{ component, file, notAfter, renewAfter }]
  } catch {
    return []
  }
}

/**
 * Returns a stamp that changes whenever a certificate or its key file does. Reads only file metadata, so it
 * is cheap to call.
 */
export async function readCertificateStamp(
  { files }: Pick<Host, 'files'>,
  { certificateFile, keyFile }: Pick<PlannedCertificate, 'certificateFile' | 'keyFile'>,
): Promise<string> {
  const facts = [await files.stat(certificateFile), await files.stat(keyFile)]
  return facts
    .map((one) => (one === undefined ? '' : `${one.inode} ${one.modified} ${one.changed}`))
    .join(' ')
}
