import { type Journal, openJournal } from '../../apply/journal.ts'
import type { Host } from '../../host/host.ts'

/** A disk that takes no line must not keep what runs on the host from being healed; the agent's own log says it as well. */
export async function forgivingJournal(host: Host, run: string): Promise<Journal> {
  const journal = await openJournal(host, run).catch(() => undefined)
  return { write: async (what) => journal?.write(what).catch(() => undefined) }
}
