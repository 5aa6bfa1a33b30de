import { type Journal, openJournal } from '../../apply/journal.ts'
import type { Host } from '../../host/host.ts'

/**
 * A journal that ignores write errors: a full disk must not prevent healing. The agent's own log has the same
 * lines.
 */
export async function openBestEffortJournal(host: Host, run: string): Promise<Journal> {
  const journal = await openJournal(host, run).catch(() => undefined)
  return { write: async (what) => journal?.write(what).catch(() => undefined) }
}
