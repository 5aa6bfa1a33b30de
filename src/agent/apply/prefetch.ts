import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Host } from '../host/host.ts'
import { findIntactFiles } from './artifact-files.ts'
import { type RemoteArtifact, downloadArtifact } from './download.ts'
import { replacementFileCheck } from './replace-files.ts'
import type { EmitRunEvent } from './emit-run-event.ts'

/** Maximum number of parallel downloads. More downloads would only share the same bandwidth. */
const maxParallel = 3

export interface ArtifactDownload {
  readonly op: Op
  readonly artifact: RemoteArtifact
}

/**
 * Lists the downloads that ops of any stage need. All of them start early, because they take most of the time
 * of a first run.
 */
export function listArtifactDownloads(plan: NodePlan, ops: readonly Op[]): ArtifactDownload[] {
  const artifacts = plan.components.flatMap((component) => component.artifacts)
  return ops
    .filter(({ target, action }) => target === 'artifact' && action !== 'remove')
    .flatMap((op) => {
      const artifact = artifacts.find(({ name, version }) => `${name}-${version}` === op.name)
      return artifact?.from === 'url' ? [{ op, artifact }] : []
    })
}

export interface PrefetchDeps {
  readonly host: Host
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}

/**
 * Downloads artifacts in parallel. The first failure aborts the other downloads and is returned with its op.
 */
export async function prefetchArtifacts(
  downloads: readonly ArtifactDownload[],
  { host, emit, signal }: PrefetchDeps,
): Promise<{ readonly op: Op; readonly error: unknown } | undefined> {
  const failed = new AbortController()
  const eitherSignal = AbortSignal.any([signal, failed.signal])
  const queue = downloads.values()
  let failure: { op: Op; error: unknown } | undefined
  const worker = async (): Promise<void> => {
    for (const { op, artifact } of queue) {
      if (eitherSignal.aborted) return
      try {
        const { directory, sha256 } = artifact
        if ((await findIntactFiles(host.files, directory, sha256, replacementFileCheck(host))) !== undefined)
          continue
        await downloadArtifact(artifact, { host, component: op.component, emit, signal: eitherSignal })
      } catch (error) {
        failure ??= { op, error }
        failed.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: maxParallel }, worker))
  signal.throwIfAborted()
  return failure
}
