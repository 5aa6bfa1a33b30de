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
