import { buildComponents } from '../components/build.ts'
import type { Part } from '../components/parts.ts'
import { makeBridge } from '../hosts/network.ts'
import type { Lab } from '../hosts/lab.ts'
import type { Report } from '../report.ts'
import { publish } from './publish.ts'
import { type Mirror, type MirrorAccess, serveMirror } from './server.ts'

export interface MirrorOptions extends MirrorAccess {
  readonly parts: readonly Part[]
  readonly cache: string
  readonly report: Report
  readonly port?: number
  /** Address to listen on. Default: that of the lab's bridge. */
  readonly address?: string
  /** A directory whose files replace those with the same path, to simulate a faulty mirror. */
  readonly overrides?: string
}

/**
 * Builds and publishes missing upstream components (parts), then serves all requested components on the lab's
 * bridge.
 */
export async function openMirror(
  lab: Lab,
  { parts, cache, report, port, overrides, address = lab.gateway, ...access }: MirrorOptions,
): Promise<Mirror> {
  const built = await buildComponents(parts, { cache, report })
  const roots: string[] = overrides === undefined ? [] : [overrides]
  for (const part of built) roots.push(await publish(part, cache, report))
  await makeBridge(lab.network)
  return serveMirror(roots, address, port, access)
}
