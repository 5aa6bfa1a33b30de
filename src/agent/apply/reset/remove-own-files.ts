import type { Ledger } from '../../../contract/ledger.ts'
import { basename, dirname, isBelow, join } from '../../host/host-path.ts'
import type { Host, WindowsHost } from '../../host/host.ts'
import { ledgerPath } from '../ledger-store.ts'
import { removeTreeUnlessInUse } from '../replace-files.ts'
import { removeScmService } from '../resources/scm-service.ts'
import { unitFile } from '../resources/systemd-service.ts'

/** Name of the service that runs the agent. */
export function agentServiceName({ os }: Pick<Host, 'os'>): string {
  return os === 'linux' ? 'hyperkube-agent.service' : 'hyperkube-agent'
}

/**
 * Removes hyperkube's own directories, the ledger last. On Linux the agent's socket is removed after that, so
 * that an operator can retry after any failure. Returns paths that are still in use.
 */
export async function removeOwnFiles(
  host: Host,
  previousLedger: Ledger | undefined,
): Promise<readonly string[]> {
  const { files, layout } = host
  const { ownDirectories, state } = layout
  const ledger = ledgerPath({ layout })
  await removeAgentService(host)
  const inUse: string[] = []
  for (const root of ownDirectories.filter((path) => !isBelow(state, path)))
    inUse.push(...((await removeTreeUnlessInUse(host, root)).inUse ?? []))
  for (const [directory, keptName] of [
    [dirname(state), basename(state)],
    [state, basename(ledger)],
  ] as const) {
    const entries = (await files.list(directory)) ?? []
    for (const { name } of entries.filter((entry) => entry.name !== keptName))
      await files.removeTree(join(directory, name))
  }
  await files.removeTree(dirname(state))
  if (host.os === 'linux') await files.removeTree(host.layout.runtime)
  else await restoreBaseDirectory(host, previousLedger)
  return inUse
}

/**
 * Restores the permissions of the base directory if it existed before hyperkube. Otherwise removes it if it
 * is empty.
 */
async function restoreBaseDirectory(
  { files, layout }: WindowsHost,
  previousLedger: Ledger | undefined,
): Promise<void> {
  const { base } = layout
  const recorded = previousLedger?.resources.find(
    ({ target, name }) => target === 'directory' && name === base,
  )
  const before = recorded?.target === 'directory' ? recorded.before : undefined
  if (before !== undefined) await files.setAccess(base, before)
  else if ((await files.list(base))?.length === 0) await files.remove(base)
}

/** Removes the agent's service. On a host without an applied plan the ledger does not contain it. */
async function removeAgentService(host: Host): Promise<void> {
  const unit = agentServiceName(host)
  if (host.os === 'windows') {
    await removeScmService(host, unit)
    return
  }
  const file = unitFile(host, unit)
  if ((await host.files.stat(file)) === undefined) return
  await host.systemd.disable(unit)
  await host.files.remove(file)
  await host.systemd.reload()
}
