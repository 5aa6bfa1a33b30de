import type { PlannedArtifact } from '../../contract/component-plan.ts'
import { uploadedFilePath, uploadedImagePath } from '../../contract/host-paths.ts'
import { parseImage } from '../../contract/image-reference.ts'
import type { Op } from '../../contract/op.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { HttpRoute } from '../../kit/http-route.ts'
import { basename, dirname, join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { resolveAccess } from '../host/file-access.ts'
import type { EmitRunEvent } from '../records/run-op.ts'

export type RemoteArtifact = Extract<PlannedArtifact, { from: 'url' }>

/** Maximum size of a download, far above that of any artifact. */
const maxBytes = 4 * 2 ** 30
const megabyte = 1_000_000
const progressIntervalMs = 500

/** Suffix of the file that holds an incomplete download. */
export const partialSuffix = '.hyperkube-partial'
/** Suffix of the file that holds a complete download with the right digest. */
export const completeSuffix = '.hyperkube-download'

/**
 * Returns the path of a download. The path contains the digest, so that a partial download is never continued
 * with other bytes.
 */
export function downloadPath({ directory, sha256 }: RemoteArtifact, suffix = completeSuffix): string {
  return join(dirname(directory), `.${basename(directory)}.${sha256.slice(0, 16)}${suffix}`)
}

/** Lists all files that may exist during a download. */
export function listDownloadPaths(artifact: RemoteArtifact): string[] {
  return [downloadPath(artifact), downloadPath(artifact, partialSuffix)]
}

export interface ArtifactDownloadDeps {
  readonly host: Host
  readonly component: string
  /** Proxy and private CAs of the plan. */
  readonly route: HttpRoute
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}

/**
 * Downloads an artifact to a file next to the artifact's directory and rejects bytes whose digest differs
 * from cluster.lock. An uploaded file is used instead of a download.
 */
export async function downloadArtifact(
  artifact: RemoteArtifact,
  deps: ArtifactDownloadDeps,
): Promise<string> {
  const { files } = deps.host
  const completePath = downloadPath(artifact)
  if ((await files.stat(completePath)) !== undefined) return completePath
  const partialPath = downloadPath(artifact, partialSuffix)
  const resumed = (await files.stat(partialPath)) !== undefined
  if ((await files.stat(dirname(completePath))) === undefined) {
    await files.makeDirectory(
      dirname(completePath),
      await resolveAccess(deps.host, { owner: 'root', mode: '0755' }),
    )
  }
  if (await moveDelivered(deps.host, artifact.sha256, completePath)) return completePath
  const sha256 = await fetchInto(partialPath, artifact, deps)
  if (sha256 === artifact.sha256) {
    await files.rename(partialPath, completePath)
    return completePath
  }
  await files.remove(partialPath)
  // The partial file that was continued may be damaged, for example by a power failure. Try once more from
  // the beginning.
  if (resumed) return downloadArtifact(artifact, deps)
  throw new HyperkubeError(
    'APPLY_WRONG_DIGEST',
    `${artifact.url} does not match cluster.lock: its SHA-256 is ${sha256}, expected ${artifact.sha256}`,
    {
      component: deps.component,
      hint: `fix the file at its source, then check: curl -fsSL ${artifact.url} | sha256sum`,
    },
  )
}

/** Deletes the complete and the partial download of an installed artifact. */
export async function deleteDownload({ files }: Host, artifact: RemoteArtifact): Promise<void> {
  for (const path of listDownloadPaths(artifact)) await files.remove(path)
}

async function fetchInto(
  into: string,
  { url }: RemoteArtifact,
  { host, component, route, emit, signal }: ArtifactDownloadDeps,
) {
  let reportedAt = 0
  return host.fetch.download({
    url,
    into,
    maxBytes: maxBytes,
    route,
    signal,
    progress: (done, total) => {
      const now = host.clock.now().getTime()
      if (total === undefined || now - reportedAt < progressIntervalMs) return
      reportedAt = now
      const [inMegabytes, ofMegabytes] = [done, total].map((bytes) => Math.round(bytes / megabyte))
      emit({ type: 'progress', done: inMegabytes ?? 0, total: ofMegabytes ?? 0, unit: 'MB' }, component)
    },
  })
}

/**
 * Moves an uploaded file to its destination. Returns false if the file was not uploaded or had a wrong
 * digest; a wrong file is deleted.
 */
async function moveDelivered(host: Host, sha256: string, into: string): Promise<boolean> {
  const { files, layout } = host
  const delivered = join(layout.uploads, uploadedFilePath(sha256))
  if ((await files.stat(delivered)) === undefined) return false
  if ((await files.digest(delivered)) !== sha256) {
    await files.remove(delivered)
    return false
  }
  await files.rename(delivered, into).catch(async (error: unknown) => {
    if (!hasCode(error, 'EXDEV')) throw error
    await files.copyIn(delivered, into, await resolveAccess(host, { owner: 'root', mode: '0600' }))
    await files.remove(delivered)
  })
  return true
}

/** Returns the path of an uploaded image archive; undefined if the image was not uploaded. */
export async function findDeliveredArchive(
  { files, layout }: Host,
  image: string,
): Promise<string | undefined> {
  const digest = parseImage(image)?.digest
  const archive = digest === undefined ? undefined : join(layout.uploads, uploadedImagePath(digest))
  return archive !== undefined && (await files.stat(archive)) !== undefined ? archive : undefined
}

/** Deletes uploaded files, except for images that ops of a later stage need. */
export async function deleteDelivered({ files, layout }: Host, later: readonly Op[]): Promise<void> {
  const images = later.filter(({ target, action }) => target === 'image' && action !== 'remove')
  const needed = new Set(images.map(({ name }) => uploadedImagePath(parseImage(name)?.digest ?? '')))
  if (needed.size === 0) {
    if ((await files.stat(layout.uploads)) !== undefined) await files.removeTree(layout.uploads)
    return
  }
  for (const folder of (await files.list(layout.uploads)) ?? []) {
    for (const { name } of (await files.list(join(layout.uploads, folder.name))) ?? []) {
      const path = `${folder.name}/${name}`
      if (!needed.has(path)) await files.removeTree(join(layout.uploads, path))
    }
  }
}
