import { cacheDirectory } from '../../lab/cache.ts'
import { selectParts } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { type MirrorOptions, openMirror } from '../../lab/mirror/open-mirror.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { silentReport } from '../../lab/report.ts'

/** A mirror of a lab, on a port that is free: with all of the engine, where nothing else is said. */
export async function labMirror(
  lab: Lab,
  { parts = selectParts(), over }: Partial<Pick<MirrorOptions, 'parts' | 'over'>> = {},
): Promise<Mirror> {
  const options = { parts, cache: cacheDirectory(), report: silentReport, port: 0 }
  return openMirror(lab, over === undefined ? options : { ...options, over })
}
