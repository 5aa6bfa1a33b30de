import { HyperkubeError } from '../../kit/errors.ts'
import type { FileAccess, FileFacts } from './files.ts'
import type { Host } from './host.ts'
import { findForeignOwner } from './windows/access-list.ts'

/** Owner and mode of a file or directory, as a plan states them. */
export interface PlannedAccess {
  readonly owner: string
  readonly mode: string
}

export async function resolveAccess(host: Host, { owner, mode }: PlannedAccess): Promise<FileAccess> {
  const ids = await host.users.find(owner)
  if (ids !== undefined) return { ...ids, mode: Number.parseInt(mode, 8) }
  throw new HyperkubeError('APPLY_NO_OWNER', `the file owner ${owner} does not exist on the host`, {
    hint: 'run the same command again: its first stage creates the users',
  })
}

/** Describes how owner or mode differ from the plan; undefined if they match. */
export async function findAccessDrift(
  host: Host,
  facts: FileFacts,
  { owner, mode }: PlannedAccess,
): Promise<string | undefined> {
  const ids = await host.users.find(owner)
  if (ids === undefined) return `its owner ${owner} does not exist`
  if (facts.uid !== ids.uid || facts.gid !== ids.gid) {
    return `it belongs to ${facts.uid}:${facts.gid}, not to ${owner}`
  }
  // On Windows, the mode of a file with a foreign owner is read as world-writable. The message names the
  // owner instead of the mode, because the owner is the cause.
  const foreignOwner = facts.sddl === undefined ? undefined : findForeignOwner(facts.sddl)
  if (foreignOwner !== undefined) return `its owner is ${foreignOwner}, not ${owner}`
  const foundMode = `0${facts.mode.toString(8).padStart(3, '0')}`
  return foundMode === mode ? undefined : `its mode is ${foundMode}, not ${mode}`
}
