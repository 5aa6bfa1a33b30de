import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { HostCertificate } from '../../contract/host-resource.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { renewalTime } from '../../pki/lifetime.ts'
import { readCertificateStamp } from './certificate-stamp.ts'
import type { WatchedPlan } from '../heal/watch-plan.ts'
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

/** A missing or invalid certificate is skipped; the health of its component reports it. */
async function readCertificate({ files }: Host, component: string, file: string): Promise<HostCertificate[]> {
  try {
    const facts = inspectCertificate((await files.read(file))?.toString('utf8') ?? '')
    const [notAfter, renewAfter] = [facts.notAfter.toISOString(), renewalTime(facts).toISOString()]
    return [{ component, file, notAfter, renewAfter }]
  } catch {
    return []
  }
}
