import { z } from 'zod'
import { truncateText } from './text-width.ts'

/** Maximum width of a log line. Longer lines are cut; the run log and the host have the complete lines. */
const maxWidth = 200

const structured = z.looseObject({
  msg: z.string().optional(),
  level: z.string().optional(),
  error: z.string().optional(),
})

/** Formats a program's log line; JSON lines become text with level, message and error first. */
export function formatProgramLogLine(line: string): string {
  return truncateText(formatStructuredLine(line), maxWidth)
}

function formatStructuredLine(line: string): string {
  const parsed = structured.safeParse(parseJsonLine(line))
  if (!parsed.success) return line
  const { msg, level, error, ts: _time, caller: _caller, ...fields } = parsed.data
  const message = [msg?.replace(/[:\s]+$/, ''), error].filter((part) => part !== undefined).join(': ')
  if (message === '') return line
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${formatValue(value)}`)
  return [...(level === undefined ? [] : [level]), message, ...rest].join(' ')
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function parseJsonLine(line: string): unknown {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
