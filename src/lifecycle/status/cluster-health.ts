import { isAddonDown } from '../../addons/addon-readiness.ts'
import { isHostHealthy, type StatusReport } from './status-report.ts'

/**
 * Summarizes the health of a cluster. `unknown`: no control plane was reached. `unhealthy`: no API server is
 * ready, or etcd has no quorum. `degraded`: a host or an addon needs attention.
 */
export function summarizeHealth({
  hosts,
  summary,
}: StatusReport): 'healthy' | 'degraded' | 'unhealthy' | 'unknown' {
  if (summary.controlPlanesUnreachable === true) return 'unknown'
  if (summary.api.healthy === 0 || !summary.etcd.quorum) return 'unhealthy'
  const isHealthy = hosts.every(isHostHealthy) && !(summary.addons ?? []).some(isAddonDown)
  return isHealthy ? 'healthy' : 'degraded'
}
