import { toPrintable } from './text.ts'

export interface ErrorDetails {
  /** Name of the affected host. */
  readonly host?: string
  /** Name of the affected component. */
  readonly component?: string
  /** What to do next, preferably a command to type. */
  readonly hint?: string
  readonly cause?: unknown
}

/**
 * An expected failure. The code is stable and documented, the message says what failed and where, and the
 * hint says what to type next.
 */
export class HyperkubeError extends Error {
  override readonly name = 'HyperkubeError'
  readonly code: string
  readonly host: string | undefined
  readonly component: string | undefined
  readonly hint: string | undefined

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.host = details.host
    this.component = details.component
    this.hint = details.hint
  }
}

/**
 * True if the thrown value is an error with this code. Also works for system errors such as ENOENT and
 * EEXIST.
 */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Formats any thrown value with its chain of causes. */
export function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const location = error instanceof HyperkubeError ? formatLocation(error) : ''
  const members = error instanceof AggregateError ? error.errors.map((one) => `\n  ${formatError(one)}`) : []
  const message = location + error.message + members.join('')
  return error.cause === undefined ? message : `${message}: ${formatError(error.cause)}`
}

/**
 * Describes any thrown value for an event, a response or the journal. `toPrintable` makes the message safe
 * for a terminal.
 */
export function toFailure(error: unknown): { code: string; message: string; hint?: string } {
  const known = error instanceof HyperkubeError ? error : undefined
  return {
    code: known?.code ?? 'UNEXPECTED',
    message: toPrintable(formatError(error)),
    ...(known?.hint === undefined ? {} : { hint: known.hint }),
  }
}

function formatLocation(error: HyperkubeError): string {
  const parts = [error.host, error.component].filter((part) => part !== undefined)
  return parts.length === 0 ? '' : `${parts.join('/')}: `
}
