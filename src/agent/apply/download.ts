import { basename, dirname, join } from '../host/host-path.ts'
import type { PlannedArtifact } from '../../contract/component-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { accessOf } from './planned-access.ts'
import { takeDelivered } from './delivered.ts'
import type { Emit } from './emit-run-event.ts'

export type Download = Extract<PlannedArtifact, { from: 'url' }>

/** No artifact comes near it. */
const largest = 4 * 2 ** 30
const megabyte = 1_000_000
/** Between two words on how far it is, in milliseconds. */
const pause = 500

/** Ends the name of what came in part. */
export const partial = '.hyperkube-partial'
/** Ends the name of what came as a whole, and is what it should be. */
export const complete = '.hyperkube-download'

/** By its digest, so that no part is ever taken for one of other bytes. */
export function downloadFile({ directory, sha256 }: Download, ending = complete): string {
  return join(dirname(directory), `.${basename(directory)}.${sha256.slice(0, 16)}${ending}`)
}

/** All that there may be of it while it comes. */
export function downloadFiles(artifact: Download): string[] {
  return [downloadFile(artifact), downloadFile(artifact, partial)]
}

export interface DownloadScene {
  readonly host: Host
  readonly component: string
  readonly emit: Emit
  readonly signal: AbortSignal
}

/**
 * Brings the bytes of an artifact next to where they will be, and takes none that are not those of the lock. What was
 * delivered need not come over the network.
 */
export async function download(artifact: Download, scene: DownloadScene): Promise<string> {
  const { files } = scene.host
  const whole = downloadFile(artifact)
  if ((await files.stat(whole)) !== undefined) return whole
  const part = downloadFile(artifact, partial)
  const resumed = (await files.stat(part)) !== undefined
  if ((await files.stat(dirname(whole))) === undefined) {
    await files.makeDirectory(dirname(whole), await accessOf(scene.host, { owner: 'root', mode: '0755' }))
  }
  if (await takeDelivered(scene.host, artifact.sha256, whole)) return whole
  const sha256 = await fetchInto(part, artifact, scene)
  if (sha256 === artifact.sha256) {
    await files.rename(part, whole)
    return whole
  }
  await files.remove(part)
  // The first part may have been of something else, or of a disk that lost power.
  if (resumed) return download(artifact, scene)
  throw new HyperkubeError(
    'APPLY_WRONG_DIGEST',
    `${artifact.url} is not what cluster.lock says: its SHA-256 is ${sha256}, and should be ${artifact.sha256}`,
    {
      component: scene.component,
      hint: `mend the file at its source, then look: curl -fsSL ${artifact.url} | sha256sum`,
    },
  )
}

/** What is installed needs neither its archive nor a part of it any more. */
export async function forgetDownload({ files }: Host, artifact: Download): Promise<void> {
  for (const path of downloadFiles(artifact)) await files.remove(path)
}

async function fetchInto(into: string, { url }: Download, { host, component, emit, signal }: DownloadScene) {
  let told = 0
  return host.fetch.download({
    url,
    into,
    limit: largest,
    signal,
    progress: (done, total) => {
      const now = host.clock.now().getTime()
      if (total === undefined || now - told < pause) return
      told = now
      const [inMegabytes, ofMegabytes] = [done, total].map((bytes) => Math.round(bytes / megabyte))
      emit({ type: 'progress', done: inMegabytes ?? 0, total: ofMegabytes ?? 0, unit: 'MB' }, component)
    },
  })
}
