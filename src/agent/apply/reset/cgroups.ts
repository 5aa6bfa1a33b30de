import type { Step } from './step.ts'

/** Control groups of pods. */
export const removeCgroups: Step = async (host, { cgroups }) => {
  const removed: string[] = []
  for (const name of cgroups) removed.push(...(await host.cgroups.remove(name)))
  return removed
}
