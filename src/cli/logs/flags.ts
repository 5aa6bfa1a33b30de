import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { parseDuration } from '../../kit/time-format.ts'
import type { LogTime } from '../../lifecycle/logs/log-line.ts'

export const logFlags = z.object({
  since: z.custom<LogTime>().optional(),
  until: z.custom<LogTime>().optional(),
  lines: z.int().optional(),
  follow: z.boolean().default(false),
  grep: z.string().optional(),
})
export type LogFlags = z.infer<typeof logFlags>

/** Parses the value of --since and --until. */
export function parseTimeFlag(text: string): LogTime {
  const ago = parseDuration(text)
  if (ago !== undefined) return { ago }
  const at = new Date(/^\d{4}-\d\d-\d\d/.test(text) ? text : Number.NaN)
  if (Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('expected a duration or a time such as 10m, 2h or 2026-11-15T12:00:00Z')
  return { at }
}

const maxLines = 1_000_000

export function parseLinesFlag(text: string): number {
  const lines = /^\d{1,7}$/.test(text) ? Number(text) : maxLines + 1
  if (lines > maxLines) throw new InvalidArgumentError('expected a number from 0 to 1000000')
  return lines
}

/** Number of lines if neither --since nor --lines is given. */
const defaultLines = 100
/** Start time if --grep is given without --since and --lines. */
const defaultSince = { ago: 3_600_000 }

/** Fills in the defaults of missing flags. */
export function applyLogDefaults(flags: LogFlags): LogFlags {
  if (flags.since !== undefined || flags.lines !== undefined) return flags
  return flags.grep === undefined ? { ...flags, lines: defaultLines } : { ...flags, since: defaultSince }
}
