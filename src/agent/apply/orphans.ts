import { dirname, join } from '../host/host-path.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { PresentResource } from '../../diff/resource.ts'
import { unfinishedSuffix } from '../host/files.ts'
import type { Host } from '../host/host.ts'
import { completeSuffix, partialSuffix } from './download.ts'
import { listAncestors } from './parents.ts'
import { listResourcePaths, listPlannedPaths } from './resource-paths.ts'

/**
 * Finds files and directories inside hyperkube's own directories that neither the plan nor the ledger names,
 * as items that the diff removes. An orphaned directory is one item, whatever it contains.
 */
export async function findOrphans(host: Host, ledger: Ledger, plan: NodePlan): Promise<PresentResource[]> {
  const { currentLink } = host.layout
  // The running program is never an orphan, whatever the plan says.
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

/** True if the directory belongs to an artifact. The artifact handler inspects it. */
function isArtifactDirectory(path: string, { resources }: Ledger, { components }: NodePlan): boolean {
  const written = resources.some((resource) => resource.target === 'artifact' && resource.directory === path)
  return written || components.some(({ artifacts }) => artifacts.some(({ directory }) => directory === path))
}

/**
 * Builds the item of an orphan. It is attributed to the component whose directory contains it and restarts no
 * service.
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
