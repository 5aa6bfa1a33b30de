import { dirname } from '../host/host-path.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Host } from '../host/host.ts'
import { isAtOrBelow } from '../host/host-path.ts'

export interface ParentContext {
  readonly host: Host
  readonly ledger: Ledger
}

/**
 * Lists the directories above a path, outermost first, that no component owns and that exist only for this
 * path: all of them inside our own directories, elsewhere those that are or were missing.
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

/** Removes directories that are empty now and that no component owns. */
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

/** Innermost first. */
export function listAncestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...listAncestors(parent)]
}

/** True if a directory was created only to hold another resource. */
export function isParentDirectory({ resources }: Ledger, path: string): boolean {
  return resources.some((resource) => 'parents' in resource && resource.parents.includes(path))
}

function isManagedDirectory({ resources }: Ledger, path: string): boolean {
  return resources.some(({ target, name }) => target === 'directory' && name === path)
}

function isOwnPath({ layout }: Host, path: string): boolean {
  return isAtOrBelow(path, layout.ownDirectories) && !layout.ownDirectories.includes(path)
}
