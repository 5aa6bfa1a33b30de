export interface ErrorDetails {
  /** The machine it happened to. */
  readonly host?: string
  /** The program it happened to. */
  readonly component?: string
  /** What to do next, best as a command to type. */
  readonly hint?: string
  readonly cause?: unknown
}

/**
 * Something that went wrong in a way we foresaw. The code is stable and documented; the message says
 * what happened and to whom; the hint says what to type next.
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

/** Whether something that was thrown bears this code, as the system's own errors do: ENOENT, EEXIST. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** The message of anything that was thrown, with its chain of causes. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const where = error instanceof HyperkubeError ? place(error) : ''
  const members = error instanceof AggregateError ? error.errors.map((one) => `\n  ${describe(one)}`) : []
  const message = where + error.message + members.join('')
  return error.cause === undefined ? message : `${message}: ${describe(error.cause)}`
}

function place(error: HyperkubeError): string {
  const parts = [error.host, error.component].filter((part) => part !== undefined)
  return parts.length === 0 ? '' : `${parts.join('/')}: `
}
