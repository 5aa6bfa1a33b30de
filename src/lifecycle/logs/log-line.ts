import { z } from 'zod'

/** One log line of a component. */
export interface LogLine {
  /** Microseconds since 1970, by the clock of the host. */
  readonly time: number
  readonly host: string
  readonly component: string
  /** Syslog priority: 3 is an error, 4 a warning, 6 normal. */
  readonly priority: number
  readonly message: string
}

/** Maximum length of a message, in characters. Some programs write whole files into one line. */
const maxMessageLength = 16 << 10

/** A journal field: a string, or an array of bytes if the content is not valid text. */
const field = z.union([z.string(), z.array(z.int().min(0).max(255)).transform(decodeBytes)])

const journalEntry = z.looseObject({
  __REALTIME_TIMESTAMP: z.coerce.number().int(),
  MESSAGE: field.nullish(),
  PRIORITY: z.coerce.number().int().catch(6),
  /** The unit that the message is about, even if systemd wrote the message. */
  UNIT: z.string().optional(),
  _SYSTEMD_UNIT: z.string().optional(),
})

/** Journal fields to request. journalctl always includes the timestamp. */
export const journalFields: readonly string[] = ['MESSAGE', 'PRIORITY', 'UNIT', '_SYSTEMD_UNIT']

/**
 * Parses one line of `journalctl -o json`. Returns undefined for any other line, such as the greeting of a
 * login shell.
 */
export function parseJournalLine(host: string, text: string): LogLine | undefined {
  const parsed = journalEntry.safeParse(parseJson(text))
  if (!parsed.success) return undefined
  const { __REALTIME_TIMESTAMP: time, MESSAGE, PRIORITY, UNIT, _SYSTEMD_UNIT } = parsed.data
  const component = (UNIT ?? _SYSTEMD_UNIT ?? '').replace(/\.service$/, '')
  return { time, host, component, priority: PRIORITY, message: MESSAGE ?? '' }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function decodeBytes(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('utf8')
}

/**
 * Truncates a message for display. The whole message must be masked before, because a cut secret would not be
 * recognized.
 */
export function truncateMessage(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength)}…`
}

/** A point in time, or a number of milliseconds before now by the clock of the host. */
export type LogTime = { readonly at: Date } | { readonly ago: number }

export interface LogQuery {
  readonly components: readonly string[]
  readonly since?: LogTime
  readonly until?: LogTime
  /** Maximum number of lines; the last ones are returned. */
  readonly lines?: number
  /** True to also return lines that are written from now on. */
  readonly follow?: boolean
}
