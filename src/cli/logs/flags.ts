import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { parseDuration } from '../../kit/duration.ts'
import type { When } from '../../lifecycle/logs/host-log.ts'

export const logFlags = z.object({
  since: z.custom<When>().optional(),
  until: z.custom<When>().optional(),
  lines: z.int().optional(),
  follow: z.boolean().default(false),
  grep: z.string().optional(),
})
export type LogFlags = z.infer<typeof logFlags>

/** What stands after --since and --until. */
export function whenFlag(text: string): When {
  const ago = parseDuration(text)
  if (ago !== undefined) return { ago }
  const at = new Date(/^\d{4}-\d\d-\d\d/.test(text) ? text : Number.NaN)
  if (Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('write it as 10m, 2h or 2026-11-15T12:00:00Z')
  return { at }
}

const most = 1_000_000

export function linesFlag(text: string): number {
  const lines = /^\d{1,7}$/.test(text) ? Number(text) : most + 1
  if (lines > most) throw new InvalidArgumentError('write it as a number, up to a million')
  return lines
}

/** Of whoever says neither from when on nor how many. */
const usualLines = 100
/** Of whoever looks for something. */
const usualTime = { ago: 3_600_000 }

/** What was asked for, with what is usual for the rest. */
export function bounded(flags: LogFlags): LogFlags {
  if (flags.since !== undefined || flags.lines !== undefined) return flags
  return flags.grep === undefined ? { ...flags, lines: usualLines } : { ...flags, since: usualTime }
}
