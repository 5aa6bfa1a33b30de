import { type ProbeRunner, failedResult, unknownResult, healthyResult } from './probe-runner.ts'
import type { ProbeDeps } from './probe-deps.ts'

/** Checks whether the supervisor reports the service as active. */
export function createServiceProbe({ systemd }: Pick<ProbeDeps, 'systemd'>): ProbeRunner<'service'> {
  return async (_check, _signal, { component: { service } }) => {
    if (service === undefined) return unknownResult('it has no service')
    const { active, sub } = await systemd.show(service.name)
    return active === 'active'
      ? healthyResult
      : failedResult('HEALTH_NOT_RUNNING', `${service.name} is ${active} (${sub})`)
  }
}
