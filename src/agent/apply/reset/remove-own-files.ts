import type { Ledger } from '../../../contract/ledger.ts'
import { basename, dirname, isBelow, join } from '../../host/host-path.ts'
import type { Host, WindowsHost } from '../../host/host.ts'
import { ledgerPath } from '../ledger-store.ts'
import { takeTree } from '../replace-files.ts'
import { removeService } from '../resources/scm-service.ts'
import { unitFile } from '../resources/systemd-service.ts'

/** The service that an agent is. */
export function ownUnit({ os }: Pick<Host, 'os'>): string {
  return os === 'linux' ? 'hyperkube-agent.service' : 'hyperkube-agent'
}

/**
 * Our own directories, whatever is in them; the ledger when nothing else is left. The way to the agent goes at the very
 * end: as long as anything can fail, somebody must be able to ask again. Answers with what is still used.
 */
export async function removeOwn(host: Host, former: Ledger | undefined): Promise<readonly string[]> {
  const { files, layout } = host
  const { own, state } = layout
  const ledger = ledgerPath({ layout })
  await removeUnit(host)
  const held: string[] = []
  for (const root of own.filter((path) => !isBelow(state, path)))
    held.push(...((await takeTree(host, root)).held ?? []))
  for (const [directory, kept] of [
    [dirname(state), basename(state)],
    [state, basename(ledger)],
  ] as const) {
    const entries = (await files.list(directory)) ?? []
    for (const { name } of entries.filter((entry) => entry.name !== kept))
      await files.removeTree(join(directory, name))
  }
  await files.removeTree(dirname(state))
  if (host.os === 'linux') await files.removeTree(host.layout.runtime)
  else await giveBackBase(host, former)
  return held
}

/** The directory that all of ours was in goes with it, unless somebody has it for other things as well. */
async function giveBackBase({ files, layout }: WindowsHost, former: Ledger | undefined): Promise<void> {
  const { base } = layout
  const known = former?.things.find(({ target, name }) => target === 'directory' && name === base)
  const before = known?.target === 'directory' ? known.before : undefined
  if (before !== undefined) await files.setAccess(base, before)
  else if ((await files.list(base))?.length === 0) await files.remove(base)
}

/** A host that got an agent and never a plan has its unit, and no ledger that knows of it. */
async function removeUnit(host: Host): Promise<void> {
  const unit = ownUnit(host)
  if (host.os === 'windows') {
    await removeService(host, unit)
    return
  }
  const file = unitFile(host, unit)
  if ((await host.files.stat(file)) === undefined) return
  await host.systemd.disable(unit)
  await host.files.remove(file)
  await host.systemd.reload()
}
