import { dirname, join } from '../host/host-path.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { isFileLocked } from '../host/files.ts'
import type { Host } from '../host/host.ts'
import { listDownloadPaths } from './download.ts'
import { pendingCertificateDirectory, pendingCertificateRoot } from './pending-certificate-store.ts'
import { listResourcePaths, listPlannedPaths } from './resource-paths.ts'
import { isTemporaryName } from './orphans.ts'

/** Deletes temporary files of earlier runs, except those that this run can reuse. */
export async function deleteTemporaryFiles(host: Host, ledger: Ledger, plan: NodePlan): Promise<void> {
  const { files, layout } = host
  const { currentLink, temporaryFileDirectories } = layout
  const currentLinks = currentLink === undefined ? [] : [currentLink]
  const paths = [...listPlannedPaths(plan), ...ledger.resources.flatMap(listResourcePaths), ...currentLinks]
  const otherDirectories = [layout.state, ...temporaryFileDirectories]
  const needed = new Set([...listPlannedDownloads(plan), ...listPlannedPending(host, plan)])
  for (const directory of new Set([...paths.map((path) => dirname(path)), ...otherDirectories])) {
    for (const { name } of (await files.list(directory)) ?? []) {
      const path = join(directory, name)
      if (isTemporaryName(name) && !needed.has(path)) await discard(host, path)
    }
  }
  for (const { name } of (await files.list(pendingCertificateRoot(host))) ?? []) {
    const path = join(pendingCertificateRoot(host), name)
    if (!needed.has(path)) await files.removeTree(path)
  }
}

/** Deletes a file. On Windows a file in use stays until its program has ended. */
async function discard({ files, os }: Host, path: string): Promise<void> {
  await files.removeTree(path).catch((error: unknown) => {
    if (os === 'linux' || !isFileLocked(error)) throw error
  })
}

function listPlannedDownloads({ components }: NodePlan): string[] {
  return components
    .flatMap(({ artifacts }) => artifacts)
    .flatMap((artifact) => (artifact.from === 'url' ? listDownloadPaths(artifact) : []))
}

function listPlannedPending(host: Host, { components }: NodePlan): string[] {
  return components
    .flatMap(({ certificates }) => certificates)
    .map((certificate) => pendingCertificateDirectory(host, certificate))
}
