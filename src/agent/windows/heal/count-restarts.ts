/** A service at one look. */
export interface LifeSeen {
  readonly name: string
  /** The process that the manager of services started, and 0 without one. */
  readonly process: number
  /** The program that this one runs, where it is another one and there is one now. */
  readonly program: number | undefined
  /** How often the manager was seen to start it again, since this agent began. */
  readonly restarts: number
}

/** What is known of services, by name. */
export type Lives = ReadonlyMap<string, { readonly total: number; readonly last?: LifeSeen }>

/**
 * How often services were started again by themselves: by their manager, or by the runner that lives on while its program
 * comes and goes. Two restarts between two looks are seen as one.
 */
export function countRestarts(before: Lives, seen: readonly LifeSeen[]): Lives {
  const now = seen.map((one) => {
    const { total = 0, last } = before.get(one.name) ?? {}
    if (last === undefined) return [one.name, { total, last: one }] as const
    const isSame = last.process === one.process
    const program = one.program ?? (isSame ? last.program : undefined)
    const byRunner = isSame && last.program !== undefined && program !== last.program
    const byManager = Math.max(0, one.restarts - last.restarts)
    return [one.name, { total: total + byManager + Number(byRunner), last: { ...one, program } }] as const
  })
  return new Map([...before, ...now])
}

/** As the next agent finds it. */
export function livesFrom(totals: Readonly<Record<string, number>>): Lives {
  return new Map(Object.entries(totals).map(([name, total]) => [name, { total }]))
}
