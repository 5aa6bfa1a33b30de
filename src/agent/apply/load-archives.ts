import type { NodePlan } from '../../contract/node-plan.ts'
import type { Host } from '../host/host.ts'
import { findDeliveredArchive } from './delivered.ts'
import type { PlanRun } from './apply-op.ts'
import { findImageTools } from './runtime-images.ts'

/** Finds the uploaded archives of all images in a plan, whichever stage needs them. */
export async function findImageArchives(host: Host, { components }: NodePlan): Promise<readonly string[]> {
  const images = [...new Set(components.flatMap((component) => component.images))]
  const archives = await Promise.all(images.map(async (image) => findDeliveredArchive(host, image)))
  return archives.filter((archive) => archive !== undefined)
}

/**
 * Only loads the archives. The op of each image verifies and records it later, and reports why it is
 * unavailable.
 */
export async function loadImageArchives(
  { host, ledgerStore, signal }: PlanRun,
  archives: readonly string[],
): Promise<void> {
  const tools = findImageTools(host, ledgerStore.ledger)
  if (tools === undefined) return
  for (const archive of archives) {
    await host.images.load(tools.ctr, archive, signal).catch(() => signal.throwIfAborted())
  }
}
