import { randomBytes } from 'node:crypto'
import type { PlannedArtifact } from '../../contract/component-plan.ts'
import type { HashedFile } from '../../contract/ledger.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { unfinishedSuffix } from '../host/files.ts'
import { basename, dirname, join } from '../host/host-path.ts'
import { type Host, programName } from '../host/host.ts'
import {
  artifactManifestName,
  findIntactFiles,
  formatArtifactManifest,
  hashArtifactFile,
  hashArtifactFiles,
  inspectArtifactFiles,
  listFilesBelow,
} from './artifact-files.ts'
import { resolveDownloadRoute } from './download-route.ts'
import { deleteDownload, downloadArtifact } from './download.ts'
import { resolveAccess } from '../host/file-access.ts'
import { removeTreeUnlessInUse, replaceFiles, replacementFileCheck } from './replace-files.ts'
import { type MakeContext, type ResourceHandler, wasAbsent } from './resource-handler.ts'

export const artifactHandler: ResourceHandler<'artifact', PlannedArtifact> = {
  target: 'artifact',
  findSpec: ({ artifacts }, name) => artifacts.find((one) => `${one.name}-${one.version}` === name),

  async inspect({ directory, files, from }, { host }) {
    const state = await inspectArtifactFiles(host.files, directory, files, replacementFileCheck(host))
    if (state !== 'as-written' || from === 'url') return state
    return (await isCurrent(host, directory))
      ? state
      : { drift: `${host.layout.currentLink} points to another release` }
  },

  async make(spec, context) {
    const { host, head } = context
    const { directory, from } = spec
    const sha256 = spec.from === 'url' ? spec.sha256 : await readReleaseDigest(host, spec, context)
    const intact = await findIntactFiles(host.files, directory, sha256, replacementFileCheck(host))
    const files =
      intact ?? (await adoptRelease(spec, sha256, context)) ?? (await installArtifact(spec, sha256, context))
    // The download is deleted even if the artifact was installed before, because an earlier run may have been
    // interrupted before this step.
    if (spec.from === 'url') await deleteDownload(host, spec)
    const switched = from === 'this-release' && (await makeCurrent(host, directory))
    return {
      changed: intact === undefined || switched,
      resource: { ...head, target: 'artifact', from, directory, files },
    }
  },

  async remove({ directory }, { host }) {
    const { files, layout } = host
    if (layout.currentLink !== undefined && (await isCurrent(host, directory)))
      await files.remove(layout.currentLink)
    if ((await files.stat(directory)) === undefined) return wasAbsent
    return removeTreeUnlessInUse(host, directory)
  },
}

/**
 * Adopts a release that the installer uploaded to its final directory. Only the manifest is missing there.
 */
async function adoptRelease(
  { from, name: artifactName, directory }: PlannedArtifact,
  sha256: string,
  { host }: MakeContext,
): Promise<HashedFile[] | undefined> {
  const { files } = host
  const name = programName(host, artifactName)
  if (from !== 'this-release' || (await listFilesBelow(files, directory)).join() !== name) return undefined
  // The digest of the running program is already known, so it is not computed again.
  const known = (await host.release.isAt(join(directory, name))) ? sha256 : undefined
  const program = await hashArtifactFile(files, directory, name, known)
  if (program.sha256 !== sha256 || program.mode !== 0o755) return undefined
  const access = await resolveAccess(host, { owner: 'root', mode: '0644' })
  await files.write(
    join(directory, artifactManifestName),
    Buffer.from(formatArtifactManifest(sha256, [program])),
    access,
  )
  await files.syncTree(directory)
  return [await hashArtifactFile(files, directory, artifactManifestName), program]
}

/**
 * Unpacks an artifact into a temporary directory, so that the final directory appears completely or not at
 * all.
 */
async function installArtifact(
  spec: PlannedArtifact,
  sha256: string,
  context: MakeContext,
): Promise<HashedFile[]> {
  const { host } = context
  const { files } = host
  const { directory } = spec
  const root = await resolveAccess(host, { owner: 'root', mode: '0755' })
  const temporary = temporaryFor(directory)
  await files.makeDirectory(temporary, root)
  await fillDirectory(temporary, spec, context)
  await normalize(host, temporary)
  const content = await hashArtifactFiles(files, temporary, knownDigests(spec))
  const manifest = Buffer.from(formatArtifactManifest(sha256, content))
  await files.write(join(temporary, artifactManifestName), manifest, { ...root, mode: 0o644 })
  const all = [await hashArtifactFile(files, temporary, artifactManifestName), ...content]
  await files.syncTree(temporary)
  await replaceDirectory(host, temporary, directory)
  return all
}

/**
 * Replaces the directory of a damaged artifact. On Linux the old directory is renamed first, so that running
 * programs keep their open files.
 */
async function replaceDirectory(host: Host, temporary: string, directory: string): Promise<void> {
  const { files } = host
  if (host.os === 'windows' && (await files.stat(directory))?.kind === 'directory') {
    await replaceFiles(host, temporary, directory)
    // A file with the right content is not replaced, so its owner and access list may still be wrong.
    await normalize(host, directory)
    return
  }
  const previous = temporaryFor(directory)
  if ((await files.stat(directory)) !== undefined) await files.rename(directory, previous)
  await files.rename(temporary, directory)
  await files.removeTree(previous)
}

/**
 * Returns digests that need not be computed: a file that is not an archive was already hashed during the
 * download.
 */
function knownDigests(spec: PlannedArtifact): ReadonlyMap<string, string> {
  if (spec.from !== 'url' || spec.unpack.kind === 'archive') return new Map()
  return new Map([[spec.unpack.as, spec.sha256]])
}

async function fillDirectory(into: string, spec: PlannedArtifact, context: MakeContext): Promise<void> {
  const { host, component, emit, signal } = context
  if (spec.from === 'this-release') {
    const access = await resolveAccess(host, { owner: 'root', mode: '0755' })
    await host.files.copyIn(host.release.executable, join(into, programName(host, spec.name)), access)
    return
  }
  const route = await resolveDownloadRoute(context)
  const downloaded = await downloadArtifact(spec, { host, component: component.name, route, emit, signal })
  const { unpack } = spec
  if (unpack.kind === 'archive') {
    await host.tar.unpack({ path: downloaded, into, strip: unpack.strip }, signal)
    return
  }
  await host.files.rename(downloaded, join(into, unpack.as))
  await host.files.setAccess(
    join(into, unpack.as),
    await resolveAccess(host, { owner: 'root', mode: '0755' }),
  )
}

/**
 * Sets the owner of all files to root and their mode to 0755 or 0644. Owners and modes from the archive are
 * not kept.
 */
async function normalize(host: Host, directory: string): Promise<void> {
  const [program, plain] = await Promise.all(
    ['0755', '0644'].map(async (mode) => resolveAccess(host, { owner: 'root', mode })),
  )
  if (program === undefined || plain === undefined) return
  for (const path of await listFilesBelow(host.files, directory)) {
    const facts = await host.files.stat(join(directory, path))
    if (facts?.kind !== 'file') continue
    await host.files.setAccess(join(directory, path), (facts.mode & 0o111) === 0 ? plain : program)
  }
}

async function readReleaseDigest(
  { release }: Host,
  { name, version }: PlannedArtifact,
  { component }: MakeContext,
): Promise<string> {
  if (release.version === version) return release.digest()
  const message = `the plan needs ${name} ${version}, but this host runs ${release.version}`
  throw new HyperkubeError('APPLY_OTHER_RELEASE', message, {
    component: component.name,
    hint: 'the plan was made by another release: run the same command again',
  })
}

/**
 * True if the directory contains the current release. On hosts without a link this is always true, because
 * the service definition selects the release.
 */
async function isCurrent({ files, layout }: Host, directory: string): Promise<boolean> {
  return layout.currentLink === undefined || (await files.readLink(layout.currentLink)) === directory
}

async function makeCurrent(host: Host, directory: string): Promise<boolean> {
  const { files, layout } = host
  if (layout.currentLink === undefined || (await isCurrent(host, directory))) return false
  await files.makeLink(layout.currentLink, directory)
  return true
}

function temporaryFor(directory: string): string {
  const name = `.${basename(directory)}.${randomBytes(8).toString('hex')}${unfinishedSuffix}`
  return join(dirname(directory), name)
}
