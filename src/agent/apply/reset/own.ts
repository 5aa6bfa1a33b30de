import { basename, dirname, join } from 'node:path'
import type { LinuxHost } from '../../host/host.ts'
import { ledgerPath } from '../ledger-file.ts'

/** Our own directories, whatever is in them; the ledger when nothing else is left. */
export async function removeOwn({ files, layout }: LinuxHost): Promise<void> {
  const { own, state } = layout
  const ledger = ledgerPath({ layout })
  for (const root of own.filter((path) => !state.startsWith(`${path}/`))) await files.removeTree(root)
  for (const [directory, kept] of [
    [dirname(state), basename(state)],
    [state, basename(ledger)],
  ] as const) {
    const entries = (await files.list(directory)) ?? []
    for (const { name } of entries.filter((entry) => entry.name !== kept))
      await files.removeTree(join(directory, name))
  }
  await files.removeTree(dirname(state))
}
