import type { InstalledCertificate } from '../../contract/request.ts'
import type { Host } from '../host/host.ts'
import { readLedger } from './ledger-store.ts'

/** Every certificate that the ledger knows, as its file is now. */
export async function installedCertificates(host: Host): Promise<InstalledCertificate[]> {
  const things = (await readLedger(host))?.things ?? []
  const found: InstalledCertificate[] = []
  for (const thing of things) {
    if (thing.target !== 'certificate') continue
    const { name: file, authority, of } = thing
    const certificate = (await host.files.read(file))?.toString('utf8')
    const component = of[0]?.component ?? ''
    found.push({ component, file, authority, ...(certificate === undefined ? {} : { certificate }) })
  }
  return found
}
