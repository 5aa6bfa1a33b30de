import type { ProgramSeen } from './worker-observation.ts'
import type { Step } from './step.ts'
import type { ProgramWish, Role } from './worker-spec.ts'

export interface ProgramPlaces {
  /** Where a whole new copy waits. */
  readonly staged: string
  /** Where the former one goes: it can be moved while it runs, though neither overwritten nor removed. */
  readonly aside: string
}

export function placesOf({ path }: Pick<ProgramWish, 'path'>): ProgramPlaces {
  return { staged: `${path}.new`, aside: `${path}.old` }
}

/**
 * What is to be done until a program is the one that was wished, the best first. A program only leaves its place when a whole
 * new one is beside it, so that whoever is cut off, or finds a file locked, leaves a host that still has one.
 */
export function replacing(role: Role, { path, sha256 }: ProgramWish, seen: ProgramSeen): readonly Step[] {
  const { staged, aside } = placesOf({ path })
  const { target } = seen
  if (target === sha256) {
    return [
      ...(seen.staged === undefined ? [] : [{ do: 'discard', path: staged } as const]),
      // Locked until the service was started anew.
      ...(seen.aside === undefined ? [] : [{ do: 'discard', path: aside } as const]),
    ]
  }
  if (seen.staged !== sha256) {
    // Until there is a new one, the former is better than none.
    const back = { do: 'move', from: aside, to: path } as const
    const fetch = { do: 'fetch', role } as const
    return target === undefined && seen.aside !== undefined ? [back, fetch] : [fetch]
  }
  if (target === undefined) return [{ do: 'move', from: staged, to: path }]
  if (seen.aside === undefined) return [{ do: 'move', from: path, to: aside }]
  // At most one of the two can be what runs.
  return [
    { do: 'discard', path: aside },
    { do: 'discard', path },
  ]
}
