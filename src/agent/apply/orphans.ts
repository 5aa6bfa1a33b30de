import { dirname, join } from '../host/host-path.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { PresentItem } from '../../diff/resource.ts'
import { unfinished } from '../host/files.ts'
import type { Host } from '../host/host.ts'
import { complete, partial } from './download.ts'
import { ancestors } from './parents.ts'
import { pathsOf, plannedPaths } from './resource-paths.ts'

/**
 * What lies in our own directories and belongs to no component, as things that the diff takes away. A directory of
 * nobody is one thing, whatever is in it.
 */
export async function strays(host: Host, ledger: Ledger, plan: NodePlan): Promise<PresentItem[]> {
  const { current } = host.layout
  // Whatever plans say: the program that runs is nobody's stray.
  const running =
    current === undefined
      ? dirname(host.release.executable)
      : ((await host.files.readLink(current)) ?? current)
  const own = current === undefined ? [] : [current]
  const known = new Set([...plannedPaths(plan), ...ledger.things.flatMap(pathsOf), ...own])
  const around = new Set([...known].flatMap(ancestors))
  const walk = async (directory: string): Promise<PresentItem[]> => {
    const entries = (await host.files.list(directory)) ?? []
    const found = await Promise.all(
      entries.map(async ({ name, kind }) => {
        const path = join(directory, name)
        if (isOwnBusiness(name) || path === running || isWhole(path, ledger, plan)) return []
        if (kind === 'directory' && (known.has(path) || around.has(path))) return walk(path)
        return known.has(path) ? [] : [stray(path, kind === 'directory', ledger)]
      }),
    )
    return found.flat()
  }
  return (await Promise.all(host.layout.exclusive.map(walk))).flat()
}

/** Names that only we give, and that are swept where nobody needs them. */
export function isOwnBusiness(name: string): boolean {
  return name.startsWith('.') && [unfinished, partial, complete].some((ending) => name.endsWith(ending))
}

/** An artifact looks after its directory itself. */
function isWhole(path: string, { things }: Ledger, { components }: NodePlan): boolean {
  const written = things.some((thing) => thing.target === 'artifact' && thing.directory === path)
  return written || components.some(({ artifacts }) => artifacts.some(({ directory }) => directory === path))
}

/** It is told as of the component whose directory it is in. Nobody restarts for it. */
function stray(path: string, isDirectory: boolean, { things }: Ledger): PresentItem {
  const around = ancestors(path)
  const home = things
    .filter(({ target, name }) => target === 'directory' && around.includes(name))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  const { component, stage } = home?.of[0] ?? { component: 'host', stage: 'prepare' as const }
  const target = isDirectory ? 'directory' : 'file'
  return { component, stage, target, name: path, digest: 'of nobody', restart: false }
}
