import { join } from '../host/host-path.ts'
import { type JournalEntry, journalEntryFormat } from '../../contract/journal.ts'
import { readVersioned } from '../../contract/versioned.ts'
import type { Host } from '../host/host.ts'
import { accessOf } from './planned-access.ts'

/** In bytes; a first run on a control plane writes some 100 kB. */
const largest = 2 ** 20
/** With the one that is written. */
const kept = 4

export function journalPath({ layout }: Pick<Host, 'layout'>, number = 0): string {
  return join(layout.state, number === 0 ? 'journal.ndjson' : `journal.${number}.ndjson`)
}

export interface Journal {
  /** Each line is on the disk before what follows it is done. */
  write(what: JournalEntry['what']): Promise<void>
}

export async function openJournal(host: Host, run: string, limit = largest): Promise<Journal> {
  const { files, layout, clock } = host
  const access = await accessOf(host, { owner: 'root', mode: '0600' })
  if ((await files.stat(layout.state)) === undefined) {
    await files.makeDirectory(layout.state, { ...access, mode: 0o700 })
  }
  await rotate(host, limit)
  // A line that nobody could end must not take the next one with it.
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
        what,
      }
      await files.append(journalPath(host), `${JSON.stringify(entry)}\n`, access.mode)
    },
  }
}

async function rotate(host: Host, limit: number): Promise<void> {
  const { files } = host
  const size = (await files.stat(journalPath(host)))?.size ?? 0
  if (size < limit) return
  await files.remove(journalPath(host, kept - 1))
  for (let number = kept - 2; number >= 0; number--) {
    if ((await files.stat(journalPath(host, number))) === undefined) continue
    await files.rename(journalPath(host, number), journalPath(host, number + 1))
  }
}

/** All that is still known, from the oldest on. A line that was cut by a crash is left out. */
export async function readJournal(host: Host): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = []
  for (let number = kept - 1; number >= 0; number--) {
    const text = (await host.files.read(journalPath(host, number)))?.toString('utf8') ?? ''
    entries.push(...text.split('\n').flatMap(entryIn))
  }
  return entries
}

function entryIn(line: string): JournalEntry[] {
  try {
    return [readVersioned(journalEntryFormat, JSON.parse(line))]
  } catch {
    return []
  }
}
