import { posix, win32 } from 'node:path'
import { Readable } from 'node:stream'
import { type ImageArchive, imageArchive } from '../../bundle/image-archive.ts'
import type { BundleMember } from '../../bundle/manifest.ts'
import type { OpenBundle } from '../../bundle/open.ts'
import {
  buildWindowsPaths,
  uploadDirectory,
  uploadedFilePath,
  uploadedImagePath,
} from '../../contract/host-paths.ts'
import { parseImage } from '../../contract/image-reference.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import { callHost } from '../../ssh/windows/call-host.ts'
import { type EmitEvent, throttleProgress } from './event-stream.ts'
import { findHostProgram } from './host-program.ts'
import type { Session } from './session.ts'

/** How often the connection to a host may be lost before an upload fails. */
const maxLosses = 5

export interface ArtifactUploadOptions {
  readonly emit: EmitEvent
  readonly signal: AbortSignal
}

/** A file of the bundle that a host needs. */
export interface ArtifactUpload {
  /** Path of the file below the host's directory for uploads. */
  readonly path: string
  readonly size: number
  /** Undefined for images, whose content is verified while it is read. */
  readonly sha256?: string
  readonly bytes: () => AsyncIterable<Uint8Array>
}

/** Returns the plans of hosts whose ops download something. */
export function selectUploadPlans(
  plans: readonly NodePlan[],
  ops: ReadonlyMap<string, readonly Op[]>,
): readonly NodePlan[] {
  return plans.filter(({ host }) => (ops.get(host) ?? []).some(needsDownload))
}

/** Uploads files of the bundle to all hosts concurrently, so that hosts do not download them. */
export async function uploadArtifacts(
  bundle: OpenBundle,
  plans: readonly NodePlan[],
  ops: ReadonlyMap<string, readonly Op[]>,
  sessions: ReadonlyMap<string, Session>,
  options: ArtifactUploadOptions,
): Promise<void> {
  await settleAll(
    selectUploadPlans(plans, ops).flatMap((plan) => {
      const session = sessions.get(plan.host)
      return session === undefined
        ? []
        : [uploadToHost(session, findUploads(bundle, plan, ops.get(plan.host) ?? []), options)]
    }),
  )
}

/**
 * Finds the files in a bundle that the ops of a host would download. Throws if a file is missing, before
 * anything is sent.
 */
export function findUploads(
  bundle: OpenBundle,
  plan: NodePlan,
  ops: readonly Op[],
): readonly ArtifactUpload[] {
  const files = new Map(bundle.manifest.members.map((member) => [member.sha256, member]))
  const images = new Map(bundle.manifest.images.map((image) => [image.reference, image]))
  const kind = plan.os === 'windows' ? 'windows' : plan.arch
  const artifacts = plan.components.flatMap((component) => component.artifacts)
  const uploads = ops.filter(needsDownload).flatMap((op): ArtifactUpload[] => {
    if (op.target === 'image') {
      const image = images.get(op.name)
      if (image === undefined) throw buildMissingError(op.name, plan)
      const digest = parseImage(op.name)?.digest ?? ''
      return [imageUpload(uploadedImagePath(digest), imageArchive(bundle, image, kind))]
    }
    const artifact = artifacts.find(({ name, version }) => `${name}-${version}` === op.name)
    if (artifact?.from !== 'url') return []
    const member = files.get(artifact.sha256)
    if (member === undefined) throw buildMissingError(op.name, plan)
    return [fileUpload(member, bundle)]
  })
  return [...new Map(uploads.map((upload) => [upload.path, upload])).values()]
}

function needsDownload({ target, action }: Op): boolean {
  return (target === 'artifact' || target === 'image') && (action === 'create' || action === 'change')
}

function fileUpload(member: BundleMember, bundle: OpenBundle): ArtifactUpload {
  const { sha256, size } = member
  return { path: uploadedFilePath(sha256), size, sha256, bytes: () => bundle.content(member) }
}

function imageUpload(path: string, archive: ImageArchive): ArtifactUpload {
  return { path, size: archive.size, bytes: () => archive.bytes() }
}

function buildMissingError(what: string, { host, os, arch }: NodePlan): HyperkubeError {
  return new HyperkubeError('BUNDLE_INCOMPLETE', `the bundle has no ${what} for ${os}/${arch}`, {
    host,
    hint: 'create the bundle again from the same cluster.lock, on a machine with internet access: hyperkube bundle create',
  })
}

/**
 * Uploads the files that a host does not have yet. After a lost connection it reconnects and uploads the
 * remaining files.
 */
export async function uploadToHost(
  session: Session,
  uploads: readonly ArtifactUpload[],
  options: ArtifactUploadOptions,
): Promise<void> {
  for (let lost = 0; ; lost++) {
    // Any request makes the session reconnect if its connection is lost.
    if (session.remote === undefined || lost > 0) await session.request({ type: 'hello' }, 'hello')
    const { remote } = session
    try {
      if (remote === undefined)
        throw new HyperkubeError('SSH_LOST', 'the ssh connection was lost', { host: session.host })
      await sendUploads(remote, uploads, options)
      return
    } catch (error) {
      options.signal.throwIfAborted()
      if (!hasCode(error, 'SSH_LOST') || lost === maxLosses) throw error
    }
  }
}

async function sendUploads(
  remote: Remote,
  uploads: readonly ArtifactUpload[],
  { emit, signal }: ArtifactUploadOptions,
): Promise<void> {
  const present = await listUploaded(remote, uploads, signal)
  const missing = uploads.filter(({ path, size }) => present.get(path) !== size)
  const total = missing.reduce((sum, { size }) => sum + size, 0)
  const subject = { host: remote.host }
  const progress = throttleProgress((done, all) =>
    emit({ type: 'progress', done, total: all, unit: 'MB' }, subject),
  )
  let sentBytes = 0
  for (const { path, size, sha256, bytes } of missing) {
    signal.throwIfAborted()
    await remote.upload(
      { stream: Readable.from(bytes(), { objectMode: false }), size },
      targetPath(remote, path),
      {
        mode: 0o600,
        ...(sha256 === undefined ? {} : { sha256 }),
        signal,
        root: true,
        onProgress: (sent) => progress(sentBytes + sent, total),
      },
    )
    sentBytes += size
  }
}

function targetPath({ windows }: Remote, path: string): string {
  return windows === undefined
    ? `${uploadDirectory}/${path}`
    : win32.join(buildWindowsPaths(windows.base).uploads, ...path.split('/'))
}

/** Creates the directories for uploads and prints size and name of each file in them. */
export const listUploadsCommand = [
  'sh',
  '-c',
  `set -eu
umask 077
cd /
for directory; do mkdir -p "$directory"; done
cd "$1/.."
find . -type f ! -name '.*' -printf '%s %P\\n'`,
] as const

/** Returns the sizes of uploaded files by path. A file gets its final name only when it is complete. */
async function listUploaded(
  remote: Remote,
  uploads: readonly ArtifactUpload[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  if (uploads.length === 0) return new Map()
  const folders = [...new Set(uploads.map(({ path }) => posix.dirname(path)))]
  if (remote.windows !== undefined) {
    const { files } = await callHost(
      await findHostProgram(remote, signal),
      { type: 'uploads', folders },
      'uploads',
      signal,
    )
    return new Map(files.map(({ path, size }) => [path, size]))
  }
  const argv = [
    ...listUploadsCommand,
    'sh',
    ...folders.map((folder) => `${uploadDirectory}/${folder}`),
  ] as const
  const { code, stdout, stderr } = await remote.exec(argv, { signal, root: true })
  if (code !== 0) {
    throw new HyperkubeError('BUNDLE_NOT_DELIVERED', `cannot use ${uploadDirectory}: ${stderr.trim()}`, {
      host: remote.host,
      hint: `on the host: ls -ld ${uploadDirectory}; df -h ${posix.dirname(uploadDirectory)}`,
    })
  }
  return new Map(
    stdout.split('\n').flatMap((line) => {
      const [, size, path] = /^(\d+) (.+)$/.exec(line) ?? []
      return path === undefined ? [] : [[path, Number(size)] as const]
    }),
  )
}
