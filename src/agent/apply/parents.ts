import { dirname } from '../host/host-path.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Host } from '../host/host.ts'
import { isWithin } from '../host/host-path.ts'

export interface ParentScene {
  readonly host: Host
  readonly ledger: Ledger
}

/**
 * The directories around a path, from the outermost on, that no component has and that are there only for its sake: all
 * in our own directories, elsewhere those that are missing or were.
 */
export async function parentsFor(
  path: string,
  { host, ledger, plan }: ParentScene & { readonly plan: NodePlan },
): Promise<string[]> {
  const planned = new Set(plan.components.flatMap(({ directories }) => directories.map((one) => one.path)))
  const own = ancestors(path).filter((at) => !planned.has(at) && !isDirectoryThing(ledger, at))
  const parents: string[] = []
  for (const at of own) {
    const isOurs = isOwn(host, at) || isParent(ledger, at) || (await host.files.stat(at)) === undefined
    if (isOurs) parents.unshift(at)
  }
  return parents
}

/** As far as nothing else has come into them. */
export async function takeParents(parents: readonly string[], { host, ledger }: ParentScene): Promise<void> {
  for (const parent of parents.toReversed()) {
    const entries = await host.files.list(parent)
    if (isDirectoryThing(ledger, parent) || (entries !== undefined && entries.length > 0)) return
    await host.files.remove(parent)
  }
}

/** From the innermost on. */
export function ancestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...ancestors(parent)]
}

/** Whether a directory was made only for the sake of something in it. */
export function isParent({ things }: Ledger, path: string): boolean {
  return things.some((thing) => 'parents' in thing && thing.parents.includes(path))
}

function isDirectoryThing({ things }: Ledger, path: string): boolean {
  return things.some(({ target, name }) => target === 'directory' && name === path)
}

function isOwn({ layout }: Host, path: string): boolean {
  return isWithin(path, layout.own) && !layout.own.includes(path)
}
