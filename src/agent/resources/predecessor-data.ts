import { kubeletShutdownFile } from '../../contract/host-paths.ts'
import type { TakenData, TakenDataRecord } from '../../contract/predecessor.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { dirname, join } from '../host/host-path.ts'
import type { LinuxHost, UserIds } from '../host/host.ts'
import type { MakeContext, ResourceObservation } from './resource-handler.ts'
import { removeIfEmpty } from './resource-paths.ts'

/** Files that programs of hyperkube write and never remove. A previous program writes its own when it starts. */
const writtenFiles: Readonly<Record<string, readonly string[]>> = { kubelet: [kubeletShutdownFile] }

/** Removes the files that a program of hyperkube has written. The program has already stopped. */
export async function removeWrittenFiles({ files }: LinuxHost, program: string): Promise<void> {
  for (const file of writtenFiles[program] ?? []) {
    await files.remove(file)
    await removeIfEmpty({ files }, dirname(file))
  }
}

/**
 * Reads the owner of the data of a predecessor. Returns undefined if the data does not exist. Throws if there is
 * other data at its new path, because nothing has ended yet.
 */
export async function recordData(
  { files }: Pick<LinuxHost, 'files'>,
  data: TakenData | undefined,
): Promise<TakenDataRecord | undefined> {
  if (data === undefined) return undefined
  const facts = await files.stat(data.from)
  if (facts !== undefined && (await files.stat(data.to)) !== undefined) throw twoCopies(data.from, data.to)
  return facts && { ...data, uid: facts.uid, gid: facts.gid }
}

/** Builds the error for a path or container without which a host could not return. */
export function notThere(what: string, component: string): HyperkubeError {
  return new HyperkubeError(
    'PREDECESSOR_MISSING',
    `${what} does not exist, so the host could not return to its previous ${component}`,
    {
      component,
      hint: 'the host changed after hyperkube adopt read it: check it with the tool that manages the cluster',
    },
  )
}

export async function inspectTakenData(
  { files, users }: LinuxHost,
  data: TakenDataRecord | undefined,
): Promise<ResourceObservation> {
  if (data === undefined) return 'as-written'
  if ((await files.stat(data.from)) !== undefined) return { drift: `${data.from} exists` }
  const taken = await files.stat(data.to)
  const owner = await users.find(data.owner)
  return taken === undefined || taken.uid === owner?.uid
    ? 'as-written'
    : { drift: `${data.to} belongs to another user` }
}

/** Moves the data to its new path, and gives it to its new owner. */
export async function takeData(
  { host }: MakeContext<LinuxHost>,
  data: TakenDataRecord | undefined,
): Promise<boolean> {
  if (data === undefined) return false
  const { from, to, owner } = data
  const { files, users } = host
  const ids = await users.find(owner)
  if (ids === undefined) throw new Error(`there is no user ${owner}`)
  const isPending = (await files.stat(from)) !== undefined
  if (isPending) {
    if ((await files.stat(to)) !== undefined) throw twoCopies(from, to)
    if ((await files.stat(dirname(to))) === undefined)
      await files.makeDirectory(dirname(to), { ...ids, mode: 0o700 })
    await files.rename(from, to)
  }
  const needsOwner = ((await files.stat(to))?.uid ?? ids.uid) !== ids.uid
  if (needsOwner) await changeOwner(host, to, ids)
  return isPending || needsOwner
}

function twoCopies(from: string, to: string): HyperkubeError {
  return new HyperkubeError('PREDECESSOR_DATA_TWICE', `both ${from} and ${to} exist`, {
    hint: 'one of them is old: compare them on the host, move the old one to another name, then run the same command again',
  })
}

/** Changes the owner of a directory and its content. The directory is last, so it shows that all is done. */
async function changeOwner(host: LinuxHost, path: string, ids: UserIds): Promise<void> {
  const { files } = host
  for (const { name } of (await files.list(path)) ?? []) await changeOwner(host, join(path, name), ids)
  const facts = await files.stat(path)
  if (facts !== undefined && facts.kind !== 'link') await files.setAccess(path, { ...ids, mode: facts.mode })
}

/**
 * Gives the data back to its previous path and owner. The component has already stopped. Throws if there is other
 * data at the previous path: the predecessor would continue with that data, without the newest writes.
 */
export async function returnData(host: LinuxHost, data: TakenDataRecord | undefined): Promise<void> {
  const { files } = host
  if (data === undefined) return
  const isTaken = (await files.stat(data.to)) !== undefined
  if ((await files.stat(data.from)) !== undefined) {
    if (isTaken) throw twoCopies(data.from, data.to)
    return
  }
  if (isTaken) {
    await changeOwner(host, data.to, { uid: data.uid, gid: data.gid })
    await files.rename(data.to, data.from)
  }
  await removeIfEmpty(host, dirname(data.to))
}
