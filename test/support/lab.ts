import { cacheDirectory } from '../../lab/cache.ts'
import { Lab } from '../../lab/hosts/lab.ts'
import type { Traces } from '../../lab/hosts/sweep.ts'

/** A lab of the test's own, empty whatever an earlier run has left. */
export async function freshLab(name: string): Promise<Lab> {
  const options = { name: `e2e-${name}`, cache: cacheDirectory() }
  await (await Lab.open(options)).down()
  return Lab.open(options)
}

/** What a lab has on the machine once it is down. */
export const noTraces: Traces = {
  processes: [],
  helpers: [],
  cgroups: [],
  namespaces: [],
  links: [],
  tables: [],
  mounts: [],
  loops: [],
  files: [],
}
