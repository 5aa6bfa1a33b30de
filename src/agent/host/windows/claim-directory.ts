import { HyperkubeError } from '../../../kit/errors.ts'
import type { HostFiles } from '../files.ts'
import { basename, dirname, join } from '../host-path.ts'
import { findForeignOwner } from './access-list.ts'

/** Operations with which directories are checked and replaced. */
export type ClaimedFiles = Pick<HostFiles, 'stat' | 'list' | 'remove'>

/** Lists a directory and its parents below the root of the drive, outermost first. */
export function listDirectoryChain(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...listDirectoryChain(parent), path]
}

/**
 * Checks an existing directory before hyperkube uses it. By default every user may create directories below
 * C:\, so another user may have created this one in advance. That user still owns the directory, and may have
 * open handles to it, which stay valid after a change of owner and access list. An empty directory is
 * therefore removed, so that the caller creates a new one. A directory with content is refused, because
 * services run as SYSTEM and would execute or trust what lies in it. A link is refused as well: Windows
 * reports the owner of its target, but the owner of the link decides where it points.
 */
export async function claimDirectory(files: ClaimedFiles, path: string): Promise<void> {
  const facts = await files.stat(path)
  if (facts === undefined) return
  if (facts.kind === 'link') throw foreignOwnerError(path, 'it is a link')
  const owner = findForeignOwner(facts.sddl ?? '')
  if (owner === undefined) return
  const entries = (await files.list(path)) ?? []
  if (facts.kind !== 'directory' || entries.length > 0)
    throw foreignOwnerError(path, `its owner is ${owner}, and it is not empty`)
  await files.remove(path)
}

/**
 * Refuses a directory that contains anything of other owners. Called after access to the directory was
 * restricted, because other users may have created entries before that.
 */
export async function refuseForeignContent(
  files: ClaimedFiles,
  directory: string,
  top = directory,
): Promise<void> {
  for (const { name, kind } of (await files.list(directory)) ?? []) {
    const path = join(directory, name)
    const facts = await files.stat(path)
    const owner = facts === undefined ? undefined : findForeignOwner(facts.sddl ?? '')
    if (owner !== undefined) throw foreignOwnerError(top, `the owner of ${path} in it is ${owner}`)
    if (kind === 'directory') await refuseForeignContent(files, path, top)
  }
}

function foreignOwnerError(path: string, why: string): HyperkubeError {
  return new HyperkubeError('APPLY_FOREIGN_OWNER', `${path} cannot be used by services of SYSTEM: ${why}`, {
    hint: `check who created it and what it contains, then on the host: ren ${path} ${basename(path)}.old`,
  })
}
