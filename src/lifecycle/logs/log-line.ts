import { z } from 'zod'

/** A line of the log of a component. */
export interface LogLine {
  /** Microseconds since 1970, by the clock of the host. */
  readonly time: number
  readonly host: string
  readonly component: string
  /** As syslog counts: 3 is an error, 4 a warning, 6 the usual. */
  readonly priority: number
  readonly message: string
}

/** In characters. Nobody reads more of a line, and some programs write whole files into one. */
const longest = 16 << 10

/** Text, or bytes where it is none. */
const field = z.union([z.string(), z.array(z.int().min(0).max(255)).transform(textOf)])

const entry = z.looseObject({
  __REALTIME_TIMESTAMP: z.coerce.number().int(),
  MESSAGE: field.nullish(),
  PRIORITY: z.coerce.number().int().catch(6),
  /** Of whom it is, also where systemd tells it. */
  UNIT: z.string().optional(),
  _SYSTEMD_UNIT: z.string().optional(),
})

/** Fields of the journal that are needed; the time comes by itself. */
export const journalFields: readonly string[] = ['MESSAGE', 'PRIORITY', 'UNIT', '_SYSTEMD_UNIT']

/** One line of `journalctl -o json`. Undefined when it is something else: a shell may greet with more than was asked. */
export function logLine(host: string, text: string): LogLine | undefined {
  const parsed = entry.safeParse(parsedJson(text))
  if (!parsed.success) return undefined
  const { __REALTIME_TIMESTAMP: time, MESSAGE, PRIORITY, UNIT, _SYSTEMD_UNIT } = parsed.data
  const component = (UNIT ?? _SYSTEMD_UNIT ?? '').replace(/\.service$/, '')
  return { time, host, component, priority: PRIORITY, message: MESSAGE ?? '' }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function textOf(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('utf8')
}

/** For whoever reads it. What is in it must have been looked at as a whole before. */
export function shortened(message: string): string {
  return message.length <= longest ? message : `${message.slice(0, longest)}…`
}
