import { buildEngine } from '../components/build.ts'
import type { Part } from '../components/parts.ts'
import { makeBridge } from '../hosts/network.ts'
import type { Lab } from '../hosts/lab.ts'
import type { Report } from '../report.ts'
import { publish } from './publish.ts'
import { type Mirror, serveMirror } from './server.ts'

export interface MirrorOptions {
  readonly parts: readonly Part[]
  readonly cache: string
  readonly report: Report
  readonly port?: number
  /** A directory whose files are served in the place of those with the same path: a mirror that has gone wrong. */
  readonly over?: string
}

/** Builds and lays out what is missing, then serves it on the lab's bridge. */
export async function openMirror(
  lab: Lab,
  { parts, cache, report, port, over }: MirrorOptions,
): Promise<Mirror> {
  const built = await buildEngine(parts, { cache, report })
  const roots: string[] = over === undefined ? [] : [over]
  for (const part of built) roots.push(await publish(part, cache, report))
  await makeBridge(lab.network)
  return serveMirror(roots, lab.gateway, port)
}
