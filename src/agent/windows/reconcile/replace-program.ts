import type { ProgramObservation } from './worker-observation.ts'
import type { ReconcileStep } from './step.ts'
import type { WorkerProgramSpec, WorkerRole } from './worker-spec.ts'

export interface ProgramPaths {
  /** Path of the complete new copy before it is installed. */
  readonly staged: string
  /** Path of the previous program. A running program can be moved, but neither overwritten nor removed. */
  readonly previous: string
}

export function buildProgramPaths({ path }: Pick<WorkerProgramSpec, 'path'>): ProgramPaths {
  return { staged: `${path}.new`, previous: `${path}.old` }
}

/**
 * Steps that lead to the desired program, best first. A program is moved only when a complete new one is
 * beside it. An interruption or a locked file therefore leaves a host with a program.
 */
export function listReplaceSteps(
  role: WorkerRole,
  { path, sha256 }: WorkerProgramSpec,
  observed: ProgramObservation,
): readonly ReconcileStep[] {
  const { staged, previous } = buildProgramPaths({ path })
  const { target } = observed
  if (target === sha256) {
    return [
      ...(observed.staged === undefined ? [] : [{ do: 'discard', path: staged } as const]),
      // The previous program is locked until the service restarts.
      ...(observed.previous === undefined ? [] : [{ do: 'discard', path: previous } as const]),
    ]
  }
  if (observed.staged !== sha256) {
    // Until the new program is there, the previous one is better than none.
    const restore = { do: 'move', from: previous, to: path } as const
    const fetch = { do: 'fetch', role } as const
    return target === undefined && observed.previous !== undefined ? [restore, fetch] : [fetch]
  }
  if (target === undefined) return [{ do: 'move', from: staged, to: path }]
  if (observed.previous === undefined) return [{ do: 'move', from: path, to: previous }]
  // At most one of the two files is running.
  return [
    { do: 'discard', path: previous },
    { do: 'discard', path },
  ]
}
