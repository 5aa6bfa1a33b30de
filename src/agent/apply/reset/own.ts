import { basename, dirname, join } from 'node:path'
import type { LinuxHost } from '../../host/host.ts'
import { ledgerPath } from '../ledger-file.ts'
import { unitFile } from '../targets/service.ts'

/** The service that an agent is. */
export const ownUnit = 'hyperkube-agent.service'

/**
 * Our own directories, whatever is in them; the ledger when nothing else is left. The way to the agent goes at the very
 * end: as long as anything can fail, somebody must be able to ask again.
 */
export async function removeOwn(host: LinuxHost): Promise<void> {
  const { files, layout } = host
  const { own, state, runtime } = layout
  const ledger = ledgerPath({ layout })
  await removeUnit(host)
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
  await files.removeTree(runtime)
}

/** A host that got an agent and never a plan has its unit, and no ledger that knows of it. */
async function removeUnit(host: LinuxHost): Promise<void> {
  const file = unitFile(host, ownUnit)
  if ((await host.files.stat(file)) === undefined) return
  await host.systemd.disable(ownUnit)
  await host.files.remove(file)
  await host.systemd.reload()
}
