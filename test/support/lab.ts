import { cacheDirectory } from '../../lab/cache.ts'
import { Lab } from '../../lab/hosts/lab.ts'
import { selectParts } from '../../lab/engine/parts.ts'
import { openMirror } from '../../lab/mirror/open.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import type { Traces } from '../../lab/hosts/sweep.ts'
import { silentReport } from '../../lab/report.ts'

/** A lab of the test's own, empty whatever an earlier run has left. */
export async function freshLab(name: string): Promise<Lab> {
  const options = { name: `e2e-${name}`, cache: cacheDirectory() }
  await (await Lab.open(options)).down()
  return Lab.open(options)
}

export async function mirrorFor(lab: Lab): Promise<Mirror> {
  return openMirror(lab, { parts: selectParts([]).parts, cache: cacheDirectory(), report: silentReport })
}

/** What a lab has on the machine once it is down. */
export const noTraces: Traces = {
  processes: [],
  cgroups: [],
  namespaces: [],
  links: [],
  tables: [],
  mounts: [],
  loops: [],
  files: [],
}
