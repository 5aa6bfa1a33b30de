import type { LinuxHost } from '../../host/host.ts'
import { waitFor } from '../wait-for.ts'
import type { LinuxLeftoverStep } from './leftover-step.ts'

/** Removes the cgroups of pods. */
export const removePodCgroups: LinuxLeftoverStep = async (host, { cgroups }, signal) => {
  const removed: string[] = []
  for (const name of cgroups) {
    if (name.endsWith('.slice')) await stopSlice(host, name, signal)
    removed.push(...(await host.cgroups.remove(name)))
  }
  return removed
}

/**
 * Stops a slice that systemd created, which would stay loaded until the next boot. systemd also stops the
 * slices below it.
 */
async function stopSlice({ systemd, clock }: LinuxHost, name: string, signal: AbortSignal): Promise<void> {
  const isLoaded = async (): Promise<boolean> =>
    ['active', 'deactivating'].includes((await systemd.show(name)).active)
  if (!(await isLoaded())) return
  await systemd.stop(name)
  await waitFor(async () => ((await isLoaded()) ? { for: `${name} to end` } : { found: true }), {
    clock,
    signal,
    emit: () => undefined,
  })
}
