import type { InstalledCertificate } from '../../contract/request.ts'
import type { Host } from '../host/host.ts'
import { readLedger } from './ledger-store.ts'

/** Lists every certificate in the ledger with the current content of its file. */
export async function listInstalledCertificates(host: Host): Promise<InstalledCertificate[]> {
  const resources = (await readLedger(host))?.resources ?? []
  const found: InstalledCertificate[] = []
  for (const resource of resources) {
    if (resource.target !== 'certificate') continue
    const { name: file, ca, owners } = resource
    const certificate = (await host.files.read(file))?.toString('utf8')
    const component = owners[0]?.component ?? ''
    found.push({ component, file, ca, ...(certificate === undefined ? {} : { certificate }) })
  }
  return found
}
