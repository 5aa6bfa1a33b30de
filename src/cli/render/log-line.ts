import { z } from 'zod'
import { cut } from './text-width.ts'

/** What a line is cut to: whole ones are in the log of the run, and on the host. */
const longest = 200

const structured = z.looseObject({
  msg: z.string().optional(),
  level: z.string().optional(),
  error: z.string().optional(),
})

/** A line of a program's log for people: of a structured one its words, and first what went wrong. */
export function logLine(line: string): string {
  return cut(inWords(line), longest)
}

function inWords(line: string): string {
  const parsed = structured.safeParse(fromJson(line))
  if (!parsed.success) return line
  const { msg, level, error, ts: _time, caller: _place, ...more } = parsed.data
  const what = [msg?.replace(/[:\s]+$/, ''), error].filter((part) => part !== undefined).join(': ')
  if (what === '') return line
  const rest = Object.entries(more).map(([key, value]) => `${key}=${textOf(value)}`)
  return [...(level === undefined ? [] : [level]), what, ...rest].join(' ')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function fromJson(line: string): unknown {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
