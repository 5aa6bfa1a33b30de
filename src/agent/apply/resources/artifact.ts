import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from '../../host/host-path.ts'
import type { PlannedArtifact } from '../../../contract/component-plan.ts'
import type { HashedFile } from '../../../contract/ledger.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { unfinished } from '../../host/files.ts'
import type { Host } from '../../host/host.ts'
import { programName } from '../../host/program-name.ts'
import { accessOf } from '../planned-access.ts'
import {
  filesBelow,
  hashFile,
  hashFiles,
  inspectFiles,
  manifestName,
  manifestText,
  wholeFiles,
} from '../artifact-files.ts'
import { download, forgetDownload } from '../download.ts'
import { besideOn, replaceFiles, takeTree } from '../replace-files.ts'
import { notThere, type Target, type Work } from '../resource-handler.ts'

export const artifact: Target<'artifact', PlannedArtifact> = {
  target: 'artifact',
  wish: ({ artifacts }, name) => artifacts.find((one) => `${one.name}-${one.version}` === name),

  async inspect({ directory, files, from }, { host }) {
    const state = await inspectFiles(host.files, directory, files, besideOn(host))
    if (state !== 'as-written' || from === 'url') return state
    return (await isCurrent(host, directory)) ? state : { drift: `${host.layout.current} leads elsewhere` }
  },

  async make(wish, work) {
    const { host, head } = work
    const { directory, from } = wish
    const sha256 = wish.from === 'url' ? wish.sha256 : await ownDigest(host, wish, work)
    const whole = await wholeFiles(host.files, directory, sha256, besideOn(host))
    const files = whole ?? (await adopt(wish, sha256, work)) ?? (await install(wish, sha256, work))
    // Also where it is there already: whoever put it there may have been cut before this.
    if (wish.from === 'url') await forgetDownload(host, wish)
    const switched = from === 'this-release' && (await makeCurrent(host, directory))
    return {
      changed: whole === undefined || switched,
      thing: { ...head, target: 'artifact', from, directory, files },
    }
  },

  async remove({ directory }, { host }) {
    const { files, layout } = host
    if (layout.current !== undefined && (await isCurrent(host, directory))) await files.remove(layout.current)
    if ((await files.stat(directory)) === undefined) return notThere
    return takeTree(host, directory)
  },
}

/** Whoever brought us put us where we belong: nothing but what says so is missing. */
async function adopt(
  { from, name: title, directory }: PlannedArtifact,
  sha256: string,
  { host }: Work,
): Promise<HashedFile[] | undefined> {
  const { files } = host
  const name = programName(host, title)
  if (from !== 'this-release' || (await filesBelow(files, directory)).join() !== name) return undefined
  // The digest is that of what runs.
  const known = (await host.release.isAt(join(directory, name))) ? sha256 : undefined
  const program = await hashFile(files, directory, name, known)
  if (program.sha256 !== sha256 || program.mode !== 0o755) return undefined
  const access = await accessOf(host, { owner: 'root', mode: '0644' })
  await files.write(join(directory, manifestName), Buffer.from(manifestText(sha256, [program])), access)
  await files.syncTree(directory)
  return [await hashFile(files, directory, manifestName), program]
}

/** Made ready beside its place, so that it is there as a whole or not at all. */
async function install(wish: PlannedArtifact, sha256: string, work: Work): Promise<HashedFile[]> {
  const { host } = work
  const { files } = host
  const { directory } = wish
  const root = await accessOf(host, { owner: 'root', mode: '0755' })
  const unready = temporaryFor(directory)
  await files.makeDirectory(unready, root)
  await fill(unready, wish, work)
  await normalize(host, unready)
  const content = await hashFiles(files, unready, knownDigests(wish))
  const manifest = Buffer.from(manifestText(sha256, content))
  await files.write(join(unready, manifestName), manifest, { ...root, mode: 0o644 })
  const all = [await hashFile(files, unready, manifestName), ...content]
  await files.syncTree(unready)
  await takePlace(host, unready, directory)
  return all
}

/** What is wrong in its place stays open to those who run it. */
async function takePlace(host: Host, unready: string, directory: string): Promise<void> {
  const { files } = host
  if (host.os === 'windows' && (await files.stat(directory))?.kind === 'directory') {
    await replaceFiles(host, unready, directory)
    return
  }
  const former = temporaryFor(directory)
  if ((await files.stat(directory)) !== undefined) await files.rename(directory, former)
  await files.rename(unready, directory)
  await files.removeTree(former)
}

/** What was downloaded to be used as it is was hashed while it came. */
function knownDigests(wish: PlannedArtifact): ReadonlyMap<string, string> {
  if (wish.from !== 'url' || wish.unpack.kind === 'archive') return new Map()
  return new Map([[wish.unpack.as, wish.sha256]])
}

async function fill(into: string, wish: PlannedArtifact, work: Work): Promise<void> {
  const { host, component, emit, signal } = work
  if (wish.from === 'this-release') {
    const access = await accessOf(host, { owner: 'root', mode: '0755' })
    await host.files.copyIn(host.release.executable, join(into, programName(host, wish.name)), access)
    return
  }
  const fetched = await download(wish, { host, component: component.name, emit, signal })
  const { unpack } = wish
  if (unpack.kind === 'archive') {
    await host.tar.unpack({ path: fetched, into, strip: unpack.strip }, signal)
    return
  }
  await host.files.rename(fetched, join(into, unpack.as))
  await host.files.setAccess(join(into, unpack.as), await accessOf(host, { owner: 'root', mode: '0755' }))
}

/** Owners and modes of whoever packed it mean nothing here. */
async function normalize(host: Host, directory: string): Promise<void> {
  const [program, plain] = await Promise.all(
    ['0755', '0644'].map(async (mode) => accessOf(host, { owner: 'root', mode })),
  )
  if (program === undefined || plain === undefined) return
  for (const path of await filesBelow(host.files, directory)) {
    const facts = await host.files.stat(join(directory, path))
    if (facts?.kind !== 'file') continue
    await host.files.setAccess(join(directory, path), (facts.mode & 0o111) === 0 ? plain : program)
  }
}

async function ownDigest(
  { release }: Host,
  { name, version }: PlannedArtifact,
  { component }: Work,
): Promise<string> {
  if (release.version === version) return release.digest()
  const message = `the plan wants ${name} ${version}, and this is ${release.version}`
  throw new HyperkubeError('APPLY_OTHER_RELEASE', message, {
    component: component.name,
    hint: 'the host has another release than the one that planned: run the same command again',
  })
}

/** Where no link says which one it is, the service does. */
async function isCurrent({ files, layout }: Host, directory: string): Promise<boolean> {
  return layout.current === undefined || (await files.readLink(layout.current)) === directory
}

async function makeCurrent(host: Host, directory: string): Promise<boolean> {
  const { files, layout } = host
  if (layout.current === undefined || (await isCurrent(host, directory))) return false
  await files.makeLink(layout.current, directory)
  return true
}

function temporaryFor(directory: string): string {
  const name = `.${basename(directory)}.${randomBytes(8).toString('hex')}${unfinished}`
  return join(dirname(directory), name)
}
