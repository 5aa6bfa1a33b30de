/** One observation of a service. */
export interface ServiceRunObservation {
  readonly name: string
  /** Process that the service manager started; 0 without one. */
  readonly process: number
  /** Process of the program that this one wraps, if there is one now. */
  readonly program: number | undefined
  /** Restarts by the service manager since this agent started. */
  readonly restarts: number
}

/** Restart count and last observation by service name. */
export type RestartCounts = ReadonlyMap<
  string,
  { readonly total: number; readonly last?: ServiceRunObservation }
>

/**
 * Counts restarts that hyperkube did not request: by the service manager, or by a runner that restarts its
 * program. Two restarts between two observations count as one.
 */
export function countRestarts(
  previous: RestartCounts,
  observed: readonly ServiceRunObservation[],
): RestartCounts {
  const now = observed.map((one) => {
    const { total = 0, last } = previous.get(one.name) ?? {}
    if (last === undefined) return [one.name, { total, last: one }] as const
    const isSame = last.process === one.process
    const program = one.program ?? (isSame ? last.program : undefined)
    const byRunner = isSame && last.program !== undefined && program !== last.program
    const byManager = Math.max(0, one.restarts - last.restarts)
    return [one.name, { total: total + byManager + Number(byRunner), last: { ...one, program } }] as const
  })
  return new Map([...previous, ...now])
}

/** Counts as a new agent reads them from disk. */
export function toRestartCounts(totals: Readonly<Record<string, number>>): RestartCounts {
  return new Map(Object.entries(totals).map(([name, total]) => [name, { total }]))
}
