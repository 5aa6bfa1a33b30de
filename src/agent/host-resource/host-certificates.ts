import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { KnownCertificate } from '../../contract/host-resource.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { renewalTime } from '../../pki/lifetime.ts'
import { pairMark } from './certificate-stamp.ts'
import type { WatchedPlan } from '../heal/watch-plan.ts'
import type { Host } from '../host/host.ts'

export type KnownCertificates = () => Promise<KnownCertificate[]>

/** Those of the plan that are there. A file is read again only when it is another one. */
export function knownCertificates(
  host: Host,
  plan: () => Promise<WatchedPlan | undefined>,
): KnownCertificates {
  const known = new Map<string, { readonly mark: string; readonly found: KnownCertificate[] }>()
  const look = async (component: string, place: PlannedCertificate): Promise<KnownCertificate[]> => {
    const file = place.certificateFile
    const mark = await pairMark(host, place)
    const before = known.get(file)
    if (before?.mark === mark) return before.found
    const found = await read(host, component, file)
    known.set(file, { mark, found })
    return found
  }
  return async () => {
    const all: KnownCertificate[] = []
    for (const { name, certificates } of (await plan())?.plan.components ?? []) {
      for (const place of certificates) all.push(...(await look(name, place)))
    }
    return all
  }
}

/** Of one that is not there, or no certificate, nothing is known; its component says so. */
async function read({ files }: Host, component: string, file: string): Promise<KnownCertificate[]> {
  try {
    const facts = inspectCertificate((await files.read(file))?.toString('utf8') ?? '')
    const [notAfter, renewAfter] = [facts.notAfter.toISOString(), renewalTime(facts).toISOString()]
    return [{ component, file, notAfter, renewAfter }]
  } catch {
    return []
  }
}
