import type { NodePlan } from '../../contract/node-plan.ts'
import type { Host } from '../host/host.ts'
import { deliveredArchive } from './delivered.ts'
import type { PlanRun } from './apply-op.ts'
import { imageTools } from './runtime-images.ts'

/** What was brought to the host of all images that its plan has, whichever stage they belong to. */
export async function archivesOf(host: Host, { components }: NodePlan): Promise<readonly string[]> {
  const images = [...new Set(components.flatMap((component) => component.images))]
  const archives = await Promise.all(images.map(async (image) => deliveredArchive(host, image)))
  return archives.filter((archive) => archive !== undefined)
}

/** Only loaded: each is looked at and written down when its own op comes, which also tells why one cannot be had. */
export async function loadArchives(
  { host, book, signal }: PlanRun,
  archives: readonly string[],
): Promise<void> {
  const tools = imageTools(host, book.ledger)
  if (tools === undefined) return
  for (const archive of archives) {
    await host.images.load(tools.ctr, archive, signal).catch(() => signal.throwIfAborted())
  }
}
