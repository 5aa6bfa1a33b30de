import type { ReconcileStep } from './step.ts'
import type { ProgramObservation, WorkerProgramSpec, WorkerRole } from './worker.ts'

export interface ProgramPaths {
  /** Path of the complete new program before it is installed. */
  readonly staged: string
  /**
   * Path to which the previous program is moved. A running program can be moved, but neither overwritten nor
   * removed.
   */
  readonly previous: string
}

export function buildProgramPaths({ path }: Pick<WorkerProgramSpec, 'path'>): ProgramPaths {
  return { staged: `${path}.new`, previous: `${path}.old` }
}

/**
 * Lists steps towards the desired program, in order of preference. If Windows refuses a step because a file
 * is in use, the next step can still succeed. The current program is moved only after a complete new copy is
 * staged. An interruption or a locked file therefore never leaves the host without a program.
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
      // While a process runs the previous program, Windows refuses to delete the file. The deletion succeeds
      // after the service has restarted.
      ...(observed.previous === undefined ? [] : [{ do: 'discard', path: previous } as const]),
    ]
  }
  if (observed.staged !== sha256) {
    // Until the new program is staged, the previous program is restored, so that the service can run.
    const restore = { do: 'move', from: previous, to: path } as const
    const fetch = { do: 'fetch', role } as const
    return target === undefined && observed.previous !== undefined ? [restore, fetch] : [fetch]
  }
  if (target === undefined) return [{ do: 'move', from: staged, to: path }]
  if (observed.previous === undefined) return [{ do: 'move', from: path, to: previous }]
  // At most one of these two files is running. Windows cannot remove that file, but it can remove the other
  // one.
  return [
    { do: 'discard', path: previous },
    { do: 'discard', path },
  ]
}
