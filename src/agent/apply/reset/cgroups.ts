import type { LinuxHost } from '../../host/host.ts'
import { waitFor } from '../wait-for.ts'
import type { Step } from './linux-leftover-step.ts'

/** Control groups of pods. */
export const removeCgroups: Step = async (host, { cgroups }, signal) => {
  const removed: string[] = []
  for (const name of cgroups) {
    if (name.endsWith('.slice')) await endSlice(host, name, signal)
    removed.push(...(await host.cgroups.remove(name)))
  }
  return removed
}

/** Where systemd made them they are units, and would stay with it until the next boot. Those below go with it. */
async function endSlice({ systemd, clock }: LinuxHost, name: string, signal: AbortSignal): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    ['active', 'deactivating'].includes((await systemd.show(name)).active)
  if (!(await isThere())) return
  await systemd.stop(name)
  await waitFor(async () => ((await isThere()) ? { for: `${name} to end` } : { found: true }), {
    clock,
    signal,
    tell: () => undefined,
  })
}
