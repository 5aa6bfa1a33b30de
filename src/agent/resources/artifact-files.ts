import { posix } from 'node:path'
import { join } from '../host/host-path.ts'
import { type ArtifactManifest, artifactManifestFormat, type HashedFile } from '../../contract/ledger.ts'
import { readVersioned } from '../../contract/versioned.ts'
import type { FileFacts, HostFiles } from '../host/files.ts'
import { sha256Hex } from './planned-file.ts'
import type { ResourceObservation } from './resource-handler.ts'

/**
 * Name of the manifest file that is written when an artifact is unpacked. With it, a later run can verify the
 * artifact without a download.
 */
export const artifactManifestName = '.hyperkube-manifest.json'

/** Lists everything below a directory except directories, as sorted relative paths. */
export async function listFilesBelow(files: HostFiles, directory: string, prefix = ''): Promise<string[]> {
  const entries = (await files.list(join(directory, prefix))) ?? []
  const found = await Promise.all(
    entries.map(async ({ name, kind }) => {
      const path = posix.join(prefix, name)
      return kind === 'directory' ? listFilesBelow(files, directory, path) : [path]
    }),
  )
  return found.flat().toSorted()
}

/**
 * Hashes each file unless its digest is in `known`. Also records stat fields, which later show whether a file
 * may have changed.
 */
export async function hashArtifactFiles(
  files: HostFiles,
  directory: string,
  known: ReadonlyMap<string, string> = new Map(),
): Promise<HashedFile[]> {
  const hashed: HashedFile[] = []
  for (const path of await listFilesBelow(files, directory)) {
    hashed.push(await hashArtifactFile(files, directory, path, known.get(path)))
  }
  return hashed
}

export async function hashArtifactFile(
  files: HostFiles,
  directory: string,
  path: string,
  known?: string,
): Promise<HashedFile> {
  const facts = await files.stat(join(directory, path))
  if (facts === undefined) throw new Error(`${join(directory, path)} disappeared while it was read`)
  const { mode, size, inode, modified, changed } = facts
  return {
    path,
    sha256: known ?? (await digestContent(files, join(directory, path))),
    mode,
    size,
    inode,
    modified,
    changed,
  }
}

/** Returns the digest of a file's content, or of the target path if the file is a link. */
async function digestContent(files: HostFiles, path: string): Promise<string> {
  const link = await files.readLink(path)
  return link === undefined ? files.digest(path) : sha256Hex(link)
}

/**
 * True if a path is the `.old` or `.new` version of a file in `names`. Such a version stays until no process
 * uses it.
 */
export type IsReplacementFile = (path: string, names: ReadonlySet<string>) => boolean
const neverReplacement: IsReplacementFile = () => false

/**
 * Compares the files of an artifact with the known files. Only files whose stat fields changed are hashed.
 */
export async function inspectArtifactFiles(
  files: HostFiles,
  directory: string,
  known: readonly HashedFile[],
  isReplacement: IsReplacementFile = neverReplacement,
): Promise<ResourceObservation> {
  if ((await files.stat(directory))?.kind !== 'directory') return 'absent'
  const names = new Set(known.map(({ path }) => path))
  const found = (await listFilesBelow(files, directory)).filter((path) => !isReplacement(path, names))
  const missing = known.find(({ path }) => !found.includes(path))
  if (missing !== undefined) return { drift: `${missing.path} is missing` }
  for (const path of found) {
    const file = known.find((one) => one.path === path)
    if (file === undefined) return { drift: `unexpected file ${path}` }
    const fullPath = join(directory, path)
    const facts = await files.stat(fullPath)
    if (facts !== undefined && isUnchanged(facts, file)) continue
    if (facts?.mode !== file.mode) return { drift: `the mode of ${path} changed` }
    if ((await digestContent(files, fullPath)) !== file.sha256) {
      return { drift: `the content of ${path} changed` }
    }
  }
  return 'as-written'
}

function isUnchanged(facts: FileFacts, { mode, size, inode, modified, changed }: HashedFile): boolean {
  return (
    facts.mode === mode &&
    facts.size === size &&
    facts.inode === inode &&
    facts.modified === modified &&
    facts.changed === changed
  )
}

export async function readArtifactManifest(
  files: HostFiles,
  directory: string,
): Promise<ArtifactManifest | undefined> {
  const text = await files.read(join(directory, artifactManifestName))
  if (text === undefined) return undefined
  try {
    return readVersioned(artifactManifestFormat, JSON.parse(text.toString('utf8')))
  } catch {
    // An unreadable manifest counts as missing: the artifact is downloaded again and nothing is lost.
    return undefined
  }
}

export function formatArtifactManifest(sha256: string, files: readonly HashedFile[]): string {
  const manifest: ArtifactManifest = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ArtifactManifest',
    sha256,
    files: Object.fromEntries(files.map(({ path, sha256: digest }) => [path, digest])),
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/**
 * Returns the files of an artifact if it was unpacked completely from an archive with this digest and is
 * unchanged since. Otherwise returns undefined.
 */
export async function findIntactFiles(
  files: HostFiles,
  directory: string,
  sha256: string,
  isReplacement: IsReplacementFile = neverReplacement,
): Promise<HashedFile[] | undefined> {
  const manifest = await readArtifactManifest(files, directory)
  if (manifest?.sha256 !== sha256) return undefined
  const names = new Set(Object.keys(manifest.files))
  const found = (await hashArtifactFiles(files, directory)).filter(({ path }) => !isReplacement(path, names))
  const own = found.filter(({ path }) => path !== artifactManifestName)
  const same = own.every(({ path, sha256: digest }) => manifest.files[path] === digest)
  // A file that others may write does not count as intact, even if its content is unchanged.
  for (const { path, mode } of found) {
    const isOpen = (mode & 0o002) !== 0 && (await files.readLink(join(directory, path))) === undefined
    if (isOpen) return undefined
  }
  return same && own.length === Object.keys(manifest.files).length ? found : undefined
}
