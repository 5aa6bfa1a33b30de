import { createHash } from 'node:crypto'
import { dirname } from '../host/host-path.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { isWithin } from '../host/host-path.ts'
import { accessDrift, accessOf, type PlannedAccess } from './planned-access.ts'
import { parentsFor, takeParents } from './parents.ts'
import { notThere, type Removed, removed, type Scene, type State, type Work } from './resource-handler.ts'

export interface FileWish extends PlannedAccess {
  readonly path: string
  readonly content: Uint8Array
}

/** What is written down of a file. */
export interface FileRecord extends PlannedAccess {
  readonly sha256: string
  readonly kept?: string | undefined
  readonly parents: string[]
}

export function sha256Of(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}

export async function inspectFile(
  host: Host,
  path: string,
  { sha256, ...access }: PlannedAccess & { readonly sha256: string },
): Promise<State> {
  const facts = await host.files.stat(path)
  if (facts === undefined) return 'absent'
  if (facts.kind !== 'file') return { drift: 'it is no plain file' }
  const drift = await accessDrift(host, facts, access)
  if (drift !== undefined) return { drift }
  return (await host.files.digest(path)) === sha256 ? 'as-written' : { drift: 'its content is another one' }
}

/** What becomes of the host around a file that is not in our own directories; in those nothing is anybody else's. */
export async function foreseeFile(wish: FileWish, work: Work): Promise<FileRecord | undefined> {
  const { path, content, owner, mode } = wish
  const { files, layout } = work.host
  if (isWithin(path, layout.own)) return undefined
  const sha256 = sha256Of(content)
  const isForeign = (await files.stat(path))?.kind === 'file' && (await files.digest(path)) !== sha256
  const kept = isForeign ? `${path}.before-hyperkube` : undefined
  return { owner, mode, sha256, parents: await parentsFor(path, work), kept }
}

/** Makes a file what it shall be. One of somebody else that is in its place is kept beside, until ours goes. */
export async function putFile(
  { path, content, owner, mode }: FileWish,
  work: Work,
  former: FileRecord | undefined,
): Promise<{ readonly changed: boolean; readonly record: FileRecord }> {
  const { host } = work
  const sha256 = sha256Of(content)
  const same = (await inspectFile(host, path, { owner, mode, sha256 })) === 'as-written'
  const parents = former?.parents ?? (await parentsFor(path, work))
  if (!same) {
    await keepForeign(host, path, former)
    await write(host, { path, content, owner, mode })
  }
  return { changed: !same, record: { owner, mode, sha256, parents, kept: former?.kept } }
}

/** What we wrote ourselves is not worth keeping. */
async function keepForeign({ files }: Host, path: string, former: FileRecord | undefined): Promise<void> {
  if (former?.kept === undefined || (await files.stat(former.kept)) !== undefined) return
  const isForeign = (await files.stat(path))?.kind === 'file' && (await files.digest(path)) !== former.sha256
  if (isForeign) await files.rename(path, former.kept)
}

async function write(host: Host, { path, content, owner, mode }: FileWish): Promise<void> {
  const { files, layout } = host
  const access = await accessOf(host, { owner, mode })
  const root = await accessOf(host, { owner: 'root', mode: '0755' })
  const directory = dirname(path)
  if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, root)
  if ((await files.stat(path))?.kind === 'directory') {
    if (!isWithin(path, layout.exclusive)) throw taken(path)
    await files.removeTree(path)
  }
  await files.write(path, content, access)
}

function taken(path: string): HyperkubeError {
  return new HyperkubeError('APPLY_PATH_TAKEN', `${path} is a directory, and shall be a file`, {
    hint: `look what is in it, and move it away: mv ${path} ${path}.old`,
  })
}

export async function takeFile(
  path: string,
  { kept, parents }: Pick<FileRecord, 'kept' | 'parents'>,
  scene: Scene,
): Promise<Removed> {
  const { files } = scene.host
  const kind = (await files.stat(path))?.kind
  // What was kept and is no more has come back already: then nothing of ours is here.
  const isOurs = kept === undefined ? kind === 'file' : (await files.stat(kept)) !== undefined
  if (isOurs && kind !== 'directory')
    await (kept === undefined ? files.remove(path) : files.rename(kept, path))
  await takeParents(parents, scene)
  return isOurs ? removed : notThere
}
