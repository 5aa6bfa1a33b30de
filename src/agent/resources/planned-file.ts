import { createHash } from 'node:crypto'
import { HyperkubeError } from '../../kit/errors.ts'
import { dirname, isAtOrBelow } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { findAccessDrift, type PlannedAccess, resolveAccess } from '../host/file-access.ts'
import {
  type InspectContext,
  type MakeContext,
  type RemoveResult,
  type ResourceObservation,
  wasAbsent,
  wasRemoved,
} from './resource-handler.ts'
import { listParents, removeEmptyParents } from './resource-paths.ts'

export interface PlannedFileSpec extends PlannedAccess {
  readonly path: string
  readonly content: Uint8Array
}

/** Fields of a file that the ledger records. */
export interface PlannedFileRecord extends PlannedAccess {
  readonly sha256: string
  readonly backup?: string | undefined
  readonly parents: string[]
}

export function sha256Hex(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}

export async function inspectFile(
  host: Host,
  path: string,
  { sha256, ...access }: PlannedAccess & { readonly sha256: string },
): Promise<ResourceObservation> {
  const facts = await host.files.stat(path)
  if (facts === undefined) return 'absent'
  if (facts.kind !== 'file') return { drift: 'not a regular file' }
  const drift = await findAccessDrift(host, facts, access)
  if (drift !== undefined) return { drift }
  return (await host.files.digest(path)) === sha256 ? 'as-written' : { drift: 'content changed' }
}

/**
 * Records the original state of a path before its first change. Returns undefined inside hyperkube's own
 * directories, where all files belong to hyperkube.
 */
export async function recordFileBefore(
  spec: PlannedFileSpec,
  context: MakeContext,
): Promise<PlannedFileRecord | undefined> {
  const { path, content, owner, mode } = spec
  const { files, layout } = context.host
  if (isAtOrBelow(path, layout.ownDirectories)) return undefined
  const sha256 = sha256Hex(content)
  const isForeign = (await files.stat(path))?.kind === 'file' && (await files.digest(path)) !== sha256
  const backup = isForeign ? `${path}.before-hyperkube` : undefined
  return { owner, mode, sha256, parents: await listParents(path, context), backup }
}

/**
 * Writes a file if it differs. A foreign file at that path is renamed and restored when the planned file is
 * removed.
 */
export async function writePlannedFile(
  { path, content, owner, mode }: PlannedFileSpec,
  context: MakeContext,
  previous: PlannedFileRecord | undefined,
): Promise<{ readonly changed: boolean; readonly record: PlannedFileRecord }> {
  const { host } = context
  const sha256 = sha256Hex(content)
  const same = (await inspectFile(host, path, { owner, mode, sha256 })) === 'as-written'
  const parents = previous?.parents ?? (await listParents(path, context))
  if (!same) {
    await backUpForeign(host, path, previous)
    await writeWithAccess(host, { path, content, owner, mode })
  }
  return { changed: !same, record: { owner, mode, sha256, parents, backup: previous?.backup } }
}

/** Renames a foreign file to its backup path. A file that hyperkube wrote needs no backup. */
async function backUpForeign(
  { files }: Host,
  path: string,
  previous: PlannedFileRecord | undefined,
): Promise<void> {
  if (previous?.backup === undefined || (await files.stat(previous.backup)) !== undefined) return
  const isForeign =
    (await files.stat(path))?.kind === 'file' && (await files.digest(path)) !== previous.sha256
  if (isForeign) await files.rename(path, previous.backup)
}

async function writeWithAccess(host: Host, { path, content, owner, mode }: PlannedFileSpec): Promise<void> {
  const { files, layout } = host
  const access = await resolveAccess(host, { owner, mode })
  const root = await resolveAccess(host, { owner: 'root', mode: '0755' })
  const directory = dirname(path)
  if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, root)
  if ((await files.stat(path))?.kind === 'directory') {
    if (!isAtOrBelow(path, layout.exclusiveDirectories)) throw pathTaken(path)
    await files.removeTree(path)
  }
  await files.write(path, content, access)
}

function pathTaken(path: string): HyperkubeError {
  return new HyperkubeError('APPLY_PATH_TAKEN', `${path} is a directory, but must be a file`, {
    hint: `check its content, then move it on the host: mv ${path} ${path}.old`,
  })
}

export async function removePlannedFile(
  path: string,
  { backup, parents }: Pick<PlannedFileRecord, 'backup' | 'parents'>,
  context: InspectContext,
): Promise<RemoveResult> {
  const { files } = context.host
  const kind = (await files.stat(path))?.kind
  // If the recorded backup is missing, a run has already restored it. The file at this path is then not
  // hyperkube's.
  const isOurs = backup === undefined ? kind === 'file' : (await files.stat(backup)) !== undefined
  if (isOurs && kind !== 'directory')
    await (backup === undefined ? files.remove(path) : files.rename(backup, path))
  await removeEmptyParents(parents, context)
  return isOurs ? wasRemoved : wasAbsent
}
