import type { Machine } from '../../lab/hosts/machine.ts'
import { type JournalEntry, journalEntryFormat } from '../../src/contract/journal.ts'
import type { Op } from '../../src/contract/op.ts'
import { readVersioned } from '../../src/contract/versioned.ts'

/** What a host has written down of all that was done on it, from the oldest on. */
export async function journalOf(host: Machine): Promise<JournalEntry[]> {
  const entries = await journalSoFar(host)
  if (entries === undefined) throw new Error(`${host.name} has no journal`)
  return entries
}

/** The same of a host on which perhaps nothing was done yet, or nothing is left. */
export async function journalSoFar(host: Machine): Promise<JournalEntry[] | undefined> {
  const { stdout } = await host.script(`
    cd /var/lib/hyperkube/agent 2>/dev/null || exit 0
    for file in $(ls -r journal.*.ndjson 2>/dev/null) journal.ndjson; do
      if [ -e $file ]; then cat $file; fi
    done`)
  const lines = stdout.split('\n').filter((line) => line !== '')
  if (lines.length === 0) return undefined
  return lines.map((line) => readVersioned(journalEntryFormat, JSON.parse(line)))
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
