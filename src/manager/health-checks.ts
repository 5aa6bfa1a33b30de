/** Returns why a check fails, or undefined if it passes. */
export type HealthCheck = () => string | undefined

export type HealthChecks = ReadonlyMap<string, HealthCheck>

export interface HealthCheckReport {
  readonly healthy: boolean
  readonly text: string
}

/**
 * Runs the checks and formats the result as Kubernetes components do. Checks are listed one per line if one
 * fails or `verbose` is set.
 */
export function runHealthChecks(path: string, checks: HealthChecks, verbose = false): HealthCheckReport {
  const all = [...checks].map(([name, check]) => ({ name, reason: check() }))
  const healthy = all.every(({ reason }) => reason === undefined)
  if (healthy && !verbose) return { healthy, text: 'ok' }
  const lines = all.map(({ name, reason }) =>
    reason === undefined ? `[+]${name} ok` : `[-]${name} failed: ${reason}`,
  )
  return { healthy, text: [...lines, `${path} check ${healthy ? 'passed' : 'failed'}`, ''].join('\n') }
}
