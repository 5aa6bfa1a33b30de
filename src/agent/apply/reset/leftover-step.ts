import type { LinuxHost } from '../../host/host.ts'
import type { Leftovers } from './leftovers.ts'

/** A named step that removes one kind of leftover and returns what it found. */
export type LeftoverStep = readonly [name: string, take: (signal: AbortSignal) => Promise<readonly string[]>]

/** Removes one kind of leftover from a Linux host and returns what it found. Idempotent. */
export type LinuxLeftoverStep = (
  host: LinuxHost,
  leftovers: Leftovers,
  signal: AbortSignal,
) => Promise<readonly string[]>
