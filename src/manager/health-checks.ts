/** Returns why something is unhealthy, or undefined. */
export type HealthCheck = () => string | undefined

export type HealthChecks = ReadonlyMap<string, HealthCheck>

export interface HealthCheckReport {
  readonly healthy: boolean
  readonly text: string
}

/**
 * Formats checks as Kubernetes components do: one line per check if one fails or verbose output is requested.
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
