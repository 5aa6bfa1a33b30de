/** Why something is not well; undefined when it is. */
export type Check = () => string | undefined

export type Checks = ReadonlyMap<string, Check>

export interface Health {
  readonly well: boolean
  readonly text: string
}

/** As Kubernetes' own components say it: a line for each check, where one fails or somebody wants to know. */
export function healthOf(path: string, checks: Checks, verbose = false): Health {
  const all = [...checks].map(([name, check]) => ({ name, why: check() }))
  const well = all.every(({ why }) => why === undefined)
  if (well && !verbose) return { well, text: 'ok' }
  const lines = all.map(({ name, why }) =>
    why === undefined ? `[+]${name} ok` : `[-]${name} failed: ${why}`,
  )
  return { well, text: [...lines, `${path} check ${well ? 'passed' : 'failed'}`, ''].join('\n') }
}
