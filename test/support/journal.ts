import type { Machine } from '../../lab/hosts/machine.ts'
import { type JournalEntry, journalEntryFormat, type Op } from '../../src/contract/op.ts'
import { readVersioned } from '../../src/contract/versioned.ts'

/** Reads the journal of a host, oldest entry first. */
export async function readJournal(host: Machine): Promise<JournalEntry[]> {
  const entries = await readJournalIfAny(host)
  if (entries === undefined) throw new Error(`${host.name} has no journal`)
  return entries
}

/** Reads the journal of a host. Returns undefined if the host has none. */
export async function readJournalIfAny(host: Machine): Promise<JournalEntry[] | undefined> {
  const { stdout } = await host.script(`
    cd /var/lib/hyperkube/agent 2>/dev/null || exit 0
    for file in $(ls -r journal.*.ndjson 2>/dev/null) journal.ndjson; do
      if [ -e $file ]; then cat $file; fi
    done`)
  const lines = stdout.split('\n').filter((line) => line !== '')
  if (lines.length === 0) return undefined
  return lines.map((line) => readVersioned(journalEntryFormat, JSON.parse(line)))
}

/** Lists the ops that completed, as text. */
export function listDoneOps(entries: readonly JournalEntry[]): string[] {
  return entries.flatMap(({ body }) =>
    body.type === 'op-ended' && (body.outcome === 'done' || body.outcome === 'unchanged')
      ? [formatOp(body.op)]
      : [],
  )
}

export function formatOp({ component, stage, action, target, name }: Op): string {
  return `${stage} ${component}: ${action} ${target} ${name}`
}
