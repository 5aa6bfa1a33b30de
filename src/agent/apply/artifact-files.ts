import { posix } from 'node:path'
import { join } from '../host/host-path.ts'
import { type ArtifactManifest, artifactManifestFormat, type HashedFile } from '../../contract/ledger.ts'
import { readVersioned } from '../../contract/versioned.ts'
import type { FileFacts, Files } from '../host/files.ts'
import { sha256Of } from './planned-file.ts'
import type { State } from './resource-handler.ts'

/** What an artifact was when it was unpacked, so that it need not be fetched again to know. */
export const manifestName = '.hyperkube-manifest.json'

/** Everything in a directory that is not a directory, by its path in it, in order. */
export async function filesBelow(files: Files, directory: string, prefix = ''): Promise<string[]> {
  const entries = (await files.list(join(directory, prefix))) ?? []
  const found = await Promise.all(
    entries.map(async ({ name, kind }) => {
      const path = posix.join(prefix, name)
      return kind === 'directory' ? filesBelow(files, directory, path) : [path]
    }),
  )
  return found.flat().toSorted()
}

/**
 * Each file with its digest, unless that is known already, and with what tells later whether it may be another one.
 */
export async function hashFiles(
  files: Files,
  directory: string,
  known: ReadonlyMap<string, string> = new Map(),
): Promise<HashedFile[]> {
  const hashed: HashedFile[] = []
  for (const path of await filesBelow(files, directory)) {
    hashed.push(await hashFile(files, directory, path, known.get(path)))
  }
  return hashed
}

export async function hashFile(
  files: Files,
  directory: string,
  path: string,
  known?: string,
): Promise<HashedFile> {
  const facts = await files.stat(join(directory, path))
  if (facts === undefined) throw new Error(`${join(directory, path)} has gone while it was read`)
  const { mode, size, inode, modified, changed } = facts
  return {
    path,
    sha256: known ?? (await contentDigest(files, join(directory, path))),
    mode,
    size,
    inode,
    modified,
    changed,
  }
}

/** Of a link it is the digest of where it leads. */
async function contentDigest(files: Files, path: string): Promise<string> {
  const link = await files.readLink(path)
  return link === undefined ? files.digest(path) : sha256Of(link)
}

/** Whether a file only waits beside one of some others, until nobody uses what it was. */
export type Beside = (path: string, names: ReadonlySet<string>) => boolean
const nothingBeside: Beside = () => false

/** Hashes only what may have changed. */
export async function inspectFiles(
  files: Files,
  directory: string,
  known: readonly HashedFile[],
  isBeside: Beside = nothingBeside,
): Promise<State> {
  if ((await files.stat(directory))?.kind !== 'directory') return 'absent'
  const names = new Set(known.map(({ path }) => path))
  const found = (await filesBelow(files, directory)).filter((path) => !isBeside(path, names))
  const missing = known.find(({ path }) => !found.includes(path))
  if (missing !== undefined) return { drift: `${missing.path} is missing` }
  for (const path of found) {
    const file = known.find((one) => one.path === path)
    if (file === undefined) return { drift: `${path} is not of it` }
    const at = join(directory, path)
    const facts = await files.stat(at)
    if (facts !== undefined && isSame(facts, file)) continue
    if (facts?.mode !== file.mode) return { drift: `the mode of ${path} is another one` }
    if ((await contentDigest(files, at)) !== file.sha256) {
      return { drift: `the content of ${path} is another one` }
    }
  }
  return 'as-written'
}

function isSame(facts: FileFacts, { mode, size, inode, modified, changed }: HashedFile): boolean {
  return (
    facts.mode === mode &&
    facts.size === size &&
    facts.inode === inode &&
    facts.modified === modified &&
    facts.changed === changed
  )
}

export async function readManifest(files: Files, directory: string): Promise<ArtifactManifest | undefined> {
  const text = await files.read(join(directory, manifestName))
  if (text === undefined) return undefined
  try {
    return readVersioned(artifactManifestFormat, JSON.parse(text.toString('utf8')))
  } catch {
    // Whatever it is: with none the artifact is fetched again, and nothing is lost.
    return undefined
  }
}

export function manifestText(sha256: string, files: readonly HashedFile[]): string {
  const manifest: ArtifactManifest = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ArtifactManifest',
    sha256,
    files: Object.fromEntries(files.map(({ path, sha256: digest }) => [path, digest])),
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** The files of an artifact that was unpacked as a whole from bytes of this digest, and is so still. */
export async function wholeFiles(
  files: Files,
  directory: string,
  sha256: string,
  isBeside: Beside = nothingBeside,
): Promise<HashedFile[] | undefined> {
  const manifest = await readManifest(files, directory)
  if (manifest?.sha256 !== sha256) return undefined
  const names = new Set(Object.keys(manifest.files))
  const found = (await hashFiles(files, directory)).filter(({ path }) => !isBeside(path, names))
  const own = found.filter(({ path }) => path !== manifestName)
  const same = own.every(({ path, sha256: digest }) => manifest.files[path] === digest)
  return same && own.length === Object.keys(manifest.files).length ? found : undefined
}
