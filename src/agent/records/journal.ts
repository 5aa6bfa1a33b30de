import { type JournalEntry, journalEntryFormat } from '../../contract/op.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { resolveAccess } from '../host/file-access.ts'

/**
 * Size in bytes above which a journal file is rotated. The first run on a control plane writes about 100 kB.
 */
const maxBytes = 2 ** 20
/** Maximum number of journal files, including the current one. */
const maxFiles = 4

export function journalPath({ layout }: Pick<Host, 'layout'>, number = 0): string {
  return join(layout.state, number === 0 ? 'journal.ndjson' : `journal.${number}.ndjson`)
}

export interface Journal {
  /** Resolves after the entry is on disk, so that the entry precedes the change that it describes. */
  write(what: JournalEntry['body']): Promise<void>
}

export async function openJournal(host: Host, run: string, limit = maxBytes): Promise<Journal> {
  const { files, layout, clock } = host
  const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
  if ((await files.stat(layout.state)) === undefined) {
    await files.makeDirectory(layout.state, { ...access, mode: 0o700 })
  }
  await rotate(host, limit)
  // Terminates an incomplete last line of a crashed agent, so that the next entry starts on its own line.
  const text = await files.read(journalPath(host))
  if (text !== undefined && text.length > 0 && text.at(-1) !== 0x0a) {
    await files.append(journalPath(host), '\n', access.mode)
  }
  return {
    async write(what) {
      const entry: JournalEntry = {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'JournalEntry',
        run,
        time: clock.now().toISOString(),
        body: what,
      }
      await files.append(journalPath(host), `${JSON.stringify(entry)}\n`, access.mode)
    },
  }
}

async function rotate(host: Host, limit: number): Promise<void> {
  const { files } = host
  const size = (await files.stat(journalPath(host)))?.size ?? 0
  if (size < limit) return
  await files.remove(journalPath(host, maxFiles - 1))
  for (let number = maxFiles - 2; number >= 0; number--) {
    if ((await files.stat(journalPath(host, number))) === undefined) continue
    await files.rename(journalPath(host, number), journalPath(host, number + 1))
  }
}

/** Returns all entries, oldest first. An incomplete line of a crashed agent is skipped. */
export async function readJournal(host: Host): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = []
  for (let number = maxFiles - 1; number >= 0; number--) {
    const text = (await host.files.read(journalPath(host, number)))?.toString('utf8') ?? ''
    entries.push(...text.split('\n').flatMap(parseEntry))
  }
  return entries
}

function parseEntry(line: string): JournalEntry[] {
  try {
    return [readVersioned(journalEntryFormat, JSON.parse(line))]
  } catch {
    return []
  }
}
