/** A time, or a number of milliseconds ago by the clock of the host. */
export type LogTime = { readonly at: Date } | { readonly ago: number }

export interface LogQuery {
  readonly components: readonly string[]
  readonly since?: LogTime
  readonly until?: LogTime
  /** Only the last lines, at most this many. */
  readonly lines?: number
  /** Also lines that are written from now on. */
  readonly follow?: boolean
}
