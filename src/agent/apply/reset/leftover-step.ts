import type { LinuxHost } from '../../host/host.ts'
import type { Leftovers } from './leftovers.ts'

/** Removes one kind of leftover and returns what was found. */
export type LeftoverStep = readonly [name: string, take: (signal: AbortSignal) => Promise<readonly string[]>]

/** Removes one kind of leftover from a Linux host and returns what was found. Idempotent. */
export type LinuxLeftoverStep = (
  host: LinuxHost,
  leftovers: Leftovers,
  signal: AbortSignal,
) => Promise<readonly string[]>
