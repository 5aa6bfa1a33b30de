import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { PresentResource } from '../../diff/resource.ts'
import { isFileLocked, unfinishedSuffix } from '../host/files.ts'
import { dirname, join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { completeSuffix, listDownloadPaths, partialSuffix } from '../resources/download.ts'
import {
  pendingCertificateDirectory,
  pendingCertificateRoot,
} from '../resources/pending-certificate-store.ts'
import { listAncestors, listPlannedPaths, listResourcePaths } from '../resources/resource-paths.ts'

/**
 * Finds orphans: files and directories inside hyperkube's own directories that neither the plan nor the
 * ledger names. An orphaned directory is returned as one entry, whatever it contains.
 */
export async function findOrphans(host: Host, ledger: Ledger, plan: NodePlan): Promise<PresentResource[]> {
  const { currentLink } = host.layout
  // The running program is never an orphan, even if the plan does not name it.
  const running =
    currentLink === undefined
      ? dirname(host.release.executable)
      : ((await host.files.readLink(currentLink)) ?? currentLink)
  const currentLinks = currentLink === undefined ? [] : [currentLink]
  const knownPaths = new Set([
    ...listPlannedPaths(plan),
    ...ledger.resources.flatMap(listResourcePaths),
    ...currentLinks,
  ])
  const ancestorPaths = new Set([...knownPaths].flatMap(listAncestors))
  const visit = async (directory: string): Promise<PresentResource[]> => {
    const entries = (await host.files.list(directory)) ?? []
    const found = await Promise.all(
      entries.map(async ({ name, kind }) => {
        const path = join(directory, name)
        if (isTemporaryName(name) || path === running || isArtifactDirectory(path, ledger, plan)) return []
        if (kind === 'directory' && (knownPaths.has(path) || ancestorPaths.has(path))) return visit(path)
        return knownPaths.has(path) ? [] : [buildOrphan(path, kind === 'directory', ledger)]
      }),
    )
    return found.flat()
  }
  return (await Promise.all(host.layout.exclusiveDirectories.map(visit))).flat()
}

/** True for names of temporary files that only hyperkube creates. `deleteTemporaryFiles` deletes them. */
export function isTemporaryName(name: string): boolean {
  return (
    name.startsWith('.') &&
    [unfinishedSuffix, partialSuffix, completeSuffix].some((ending) => name.endsWith(ending))
  )
}

/**
 * True if the directory belongs to an artifact. The artifact handler checks its files, so the directory is
 * not searched for orphans.
 */
function isArtifactDirectory(path: string, { resources }: Ledger, { components }: NodePlan): boolean {
  const written = resources.some((resource) => resource.target === 'artifact' && resource.directory === path)
  return written || components.some(({ artifacts }) => artifacts.some(({ directory }) => directory === path))
}

/**
 * Builds the entry of an orphan. The orphan is attributed to the component whose directory contains it. Its
 * removal restarts no service.
 */
function buildOrphan(path: string, isDirectory: boolean, { resources }: Ledger): PresentResource {
  const ancestorPaths = listAncestors(path)
  const ownerDirectory = resources
    .filter(({ target, name }) => target === 'directory' && ancestorPaths.includes(name))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  const { component, stage } = ownerDirectory?.owners[0] ?? { component: 'host', stage: 'prepare' as const }
  const target = isDirectory ? 'directory' : 'file'
  return { component, stage, target, name: path, digest: 'orphan', restart: false }
}

/**
 * Deletes temporary files of earlier runs. Downloads and pending certificates that the plan still needs are
 * kept.
 */
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
