import { type Ask, failed, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'

/** Whether there is a file, and something in it. */
export function askFile({ files }: Pick<ProbeEdges, 'files'>): Ask<'file'> {
  return async ({ path }) => {
    const facts = await files.stat(path)
    if (facts === undefined) return failed('HEALTH_UNWELL', `there is no ${path}`)
    return facts.size === 0 ? failed('HEALTH_UNWELL', `${path} is empty`) : well
  }
}
