import type { PlannedDirectory } from '../../contract/component-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { FileFacts } from '../host/files.ts'
import { isAtOrBelow, isBelow, join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { findResource } from '../records/ledger.ts'
import { findAccessDrift, resolveAccess } from '../host/file-access.ts'
import { removeTreeUnlessInUse } from './replace-files.ts'
import {
  type MakeContext,
  type ManagedResource,
  type RemoveResult,
  type ResourceHandler,
  wasAbsent,
  wasRemoved,
} from './resource-handler.ts'
import { isParentDirectory, listParents, listResourcePaths, removeEmptyParents } from './resource-paths.ts'

export const directoryHandler: ResourceHandler<'directory', PlannedDirectory> = {
  target: 'directory',
  findSpec: ({ directories }, name) => directories.find(({ path }) => path === name),

  async inspect({ name, owner, mode }, { host }) {
    const facts = await host.files.stat(name)
    if (facts === undefined) return 'absent'
    if (facts.kind !== 'directory') return { drift: 'not a directory' }
    const drift = await findAccessDrift(host, facts, { owner, mode })
    return drift === undefined ? 'as-written' : { drift }
  },

  async recordBefore({ path, owner, mode }, context) {
    if (isAtOrBelow(path, context.host.layout.ownDirectories)) return undefined
    const [parents, before] = [await listParents(path, context), await readOriginalAccess(path, context)]
    return { ...context.head, target: 'directory', owner, mode, parents, before }
  },

  async make({ path, owner, mode }, context, previous) {
    const { host, head } = context
    const facts = await host.files.stat(path)
    const access = { owner, mode }
    const same = facts?.kind === 'directory' && (await findAccessDrift(host, facts, access)) === undefined
    const parents = previous?.parents ?? (await listParents(path, context))
    if (!same) await makeDirectory(context, { path, owner, mode }, facts)
    const resource = { ...head, target: 'directory' as const, owner, mode, parents, before: previous?.before }
    return { changed: !same, resource }
  },

  /**
   * Removes a directory. Inside hyperkube's own directories the content is removed too. Elsewhere the content
   * is data, which only a reset removes. A directory that existed before gets its access back.
   */
  async remove(resource, context) {
    const { name, parents } = resource
    const { host, ledger } = context
    const entries = await host.files.list(name)
    // True if paths of other resources in the ledger are below this directory.
    const isNeeded = ledger.resources.some((other) =>
      listResourcePaths(other).some((path) => isBelow(path, name)),
    )
    if (isNeeded && isAtOrBelow(name, host.layout.exclusiveDirectories)) return wasAbsent
    const isData =
      !isAtOrBelow(name, host.layout.exclusiveDirectories) && entries !== undefined && entries.length > 0
    if (isData) {
      const { before } = resource
      if (before !== undefined) await host.files.setAccess(name, before)
      return { changed: before !== undefined, retained: [name] }
    }
    const outcome = entries === undefined ? wasAbsent : await restoreOrRemove(host, resource)
    if (outcome.inUse === undefined) await removeEmptyParents(parents, context)
    return outcome
  },
}

async function makeDirectory(
  { host, ledger }: MakeContext,
  { path, owner, mode }: PlannedDirectory,
  facts: FileFacts | undefined,
): Promise<void> {
  const access = await resolveAccess(host, { owner, mode })
  // On Windows, a directory that hyperkube made below its base directory is repaired in place. Only
  // administrators can have changed its owner, and other ops check its content. Elsewhere a ledger entry does
  // not prove that hyperkube made the directory, because the entry is written before the directory.
  const isOwn =
    host.os === 'windows' &&
    isAtOrBelow(path, host.layout.ownDirectories) &&
    findResource(ledger, { target: 'directory', name: path }) !== undefined
  if (isOwn && facts?.kind === 'directory') return host.files.setAccess(path, access)
  if (facts !== undefined && facts.kind !== 'directory') {
    if (!isAtOrBelow(path, host.layout.exclusiveDirectories)) throw pathTaken(path)
    await host.files.remove(path)
  }
  await host.files.makeDirectory(path, access)
}

/**
 * Returns the permissions of a directory that existed before hyperkube; undefined if hyperkube created it.
 */
async function readOriginalAccess(
  path: string,
  { host, ledger }: MakeContext,
): Promise<ManagedResource<'directory'>['before']> {
  const facts = await host.files.stat(path)
  if (facts?.kind !== 'directory' || isParentDirectory(ledger, path) || (await containsOnlyOwn(host, path)))
    return undefined
  const { uid, gid, mode, sddl } = facts
  return { uid, gid, mode, ...(sddl === undefined ? {} : { sddl }) }
}

/**
 * True if the directory contains only directories of hyperkube. On Windows the installer of the agent creates
 * such a directory as the parent of hyperkube's directories.
 */
async function containsOnlyOwn({ os, files, layout }: Host, path: string): Promise<boolean> {
  if (os === 'linux' || !layout.ownDirectories.every((own) => isBelow(own, path))) return false
  const entries = (await files.list(path)) ?? []
  return entries.every(({ name }) => layout.ownDirectories.includes(join(path, name)))
}

async function restoreOrRemove(
  host: Host,
  { name, before }: ManagedResource<'directory'>,
): Promise<RemoveResult> {
  if (before === undefined) return removeTreeUnlessInUse(host, name)
  await host.files.setAccess(name, before)
  return wasRemoved
}

function pathTaken(path: string): HyperkubeError {
  return new HyperkubeError('APPLY_PATH_TAKEN', `${path} must be a directory, but is not`, {
    hint: `check what it is, then move it on the host: mv ${path} ${path}.old`,
  })
}
