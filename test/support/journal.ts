import type { Host } from '../../lab/hosts/host.ts'
import { type JournalEntry, journalEntryFormat } from '../../src/contract/journal.ts'
import type { Op } from '../../src/contract/op.ts'
import { readVersioned } from '../../src/contract/versioned.ts'

/** What a host has written down of all that was done on it, from the oldest on. */
export async function journalOf(host: Host): Promise<JournalEntry[]> {
  const { stdout } = await host.script(
    'cd /var/lib/hyperkube/agent; cat $(ls -r journal.*.ndjson 2>/dev/null) journal.ndjson',
  )
  return stdout
    .trim()
    .split('\n')
    .map((line) => readVersioned(journalEntryFormat, JSON.parse(line)))
}

/** The ops that were carried to their end, in words. */
export function opsDone(entries: readonly JournalEntry[]): string[] {
  return entries.flatMap(({ what }) =>
    what.type === 'op-ended' && (what.outcome === 'done' || what.outcome === 'unchanged')
      ? [inWords(what.op)]
      : [],
  )
}

export function inWords({ component, stage, action, target, name }: Op): string {
  return `${stage} ${component}: ${action} ${target} ${name}`
}
