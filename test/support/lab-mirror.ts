import { cacheDirectory } from '../../lab/cache.ts'
import { selectParts } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { type MirrorOptions, openMirror } from '../../lab/mirror/open-mirror.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { silentReport } from '../../lab/report.ts'

/** Opens a mirror for a lab on a free port. By default it has all upstream components. */
export async function openLabMirror(
  lab: Lab,
  { parts = selectParts(), ...options }: Partial<Omit<MirrorOptions, 'cache' | 'report' | 'port'>> = {},
): Promise<Mirror> {
  return openMirror(lab, { parts, cache: cacheDirectory(), report: silentReport, port: 0, ...options })
}
