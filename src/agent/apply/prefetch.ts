import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Host } from '../host/host.ts'
import { wholeFiles } from './artifact-files.ts'
import { type Download, download } from './download.ts'
import { besideOn } from './replace-files.ts'
import type { Emit } from './emit-run-event.ts'

/** Side by side; more would only share the same line. */
const atOnce = 3

export interface Wanted {
  readonly op: Op
  readonly artifact: Download
}

/** Downloads that some ops will need, of whatever stage: most of the time of a first run is spent on them. */
export function downloadsFor(plan: NodePlan, ops: readonly Op[]): Wanted[] {
  const artifacts = plan.components.flatMap((component) => component.artifacts)
  return ops
    .filter(({ target, action }) => target === 'artifact' && action !== 'remove')
    .flatMap((op) => {
      const artifact = artifacts.find(({ name, version }) => `${name}-${version}` === op.name)
      return artifact?.from === 'url' ? [{ op, artifact }] : []
    })
}

export interface PrefetchScene {
  readonly host: Host
  readonly emit: Emit
  readonly signal: AbortSignal
}

/** The first that fails ends the others, and is told with the op it was for. */
export async function prefetch(
  wanted: readonly Wanted[],
  { host, emit, signal }: PrefetchScene,
): Promise<{ readonly op: Op; readonly error: unknown } | undefined> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const queue = wanted.values()
  let failure: { op: Op; error: unknown } | undefined
  const worker = async (): Promise<void> => {
    for (const { op, artifact } of queue) {
      if (either.aborted) return
      try {
        const { directory, sha256 } = artifact
        if ((await wholeFiles(host.files, directory, sha256, besideOn(host))) !== undefined) continue
        await download(artifact, { host, component: op.component, emit, signal: either })
      } catch (error) {
        failure ??= { op, error }
        failed.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  signal.throwIfAborted()
  return failure
}
