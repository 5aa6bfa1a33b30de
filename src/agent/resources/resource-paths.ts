import type { Ledger, LedgerResource } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { hasCode } from '../../kit/errors.ts'
import { dirname, isAtOrBelow, join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'

/** Lists the paths that a plan writes. */
export function listPlannedPaths({ components }: NodePlan): string[] {
  return components.flatMap(({ directories, files, derivedFiles, certificates, artifacts }) => [
    ...[...directories, ...files, ...derivedFiles].map(({ path }) => path),
    ...certificates.flatMap(({ certificateFile, keyFile }) => [certificateFile, keyFile]),
    ...artifacts.map(({ directory }) => directory),
  ])
}

/** Lists the paths that a resource of the ledger occupies. */
export function listResourcePaths(resource: LedgerResource): string[] {
  switch (resource.target) {
    case 'directory':
    case 'file':
    case 'derived-file':
      return [resource.name, ...resource.parents]
    case 'certificate':
      return [resource.name, resource.keyFile]
    case 'artifact':
      return [resource.directory]
    default:
      return []
  }
}

interface ParentContext {
  readonly host: Host
  readonly ledger: Ledger
}

/**
 * Lists the ancestor directories of a path, outermost first, that hyperkube creates only to hold this path.
 * Inside hyperkube's own directories these are all unmanaged ancestors. Elsewhere these are the ancestors
 * that do not exist or that hyperkube created.
 */
export async function listParents(
  path: string,
  { host, ledger, plan }: ParentContext & { readonly plan: NodePlan },
): Promise<string[]> {
  const planned = new Set(plan.components.flatMap(({ directories }) => directories.map((one) => one.path)))
  const candidates = listAncestors(path).filter((at) => !planned.has(at) && !isManagedDirectory(ledger, at))
  const parents: string[] = []
  for (const at of candidates) {
    const isOurs =
      isOwnPath(host, at) || isParentDirectory(ledger, at) || (await host.files.stat(at)) === undefined
    if (isOurs) parents.unshift(at)
  }
  return parents
}

/**
 * Removes directories, innermost first. Stops at the first directory that has content or that a component
 * owns.
 */
export async function removeEmptyParents(
  parents: readonly string[],
  { host, ledger }: ParentContext,
): Promise<void> {
  for (const parent of parents.toReversed()) {
    const entries = await host.files.list(parent)
    if (isManagedDirectory(ledger, parent) || (entries !== undefined && entries.length > 0)) return
    await host.files.remove(parent)
  }
}

/** Removes a directory unless it has content or is a mount point. */
export async function removeIfEmpty({ files }: Pick<Host, 'files'>, directory: string): Promise<void> {
  await files.remove(directory).catch((error: unknown) => {
    if (!hasCode(error, 'EBUSY') && !hasCode(error, 'ENOTEMPTY')) throw error
  })
}

/** Deletes the content of a directory. Returns false if the directory does not exist. */
export async function emptyDirectory({ files }: Pick<Host, 'files'>, directory: string): Promise<boolean> {
  const entries = await files.list(directory)
  if (entries === undefined) return false
  for (const { name } of entries) await files.removeTree(join(directory, name))
  return true
}

/** Lists the ancestor directories of a path, innermost first. */
export function listAncestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...listAncestors(parent)]
}

/** True if hyperkube created the directory only to hold another resource. */
export function isParentDirectory({ resources }: Ledger, path: string): boolean {
  return resources.some((resource) => 'parents' in resource && resource.parents.includes(path))
}

function isManagedDirectory({ resources }: Ledger, path: string): boolean {
  return resources.some(({ target, name }) => target === 'directory' && name === path)
}

function isOwnPath({ layout }: Host, path: string): boolean {
  return isAtOrBelow(path, layout.ownDirectories) && !layout.ownDirectories.includes(path)
}
