import { type Ask, failed, unknown, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'

/** Whether the supervisor says that it runs. */
export function askService({ systemd }: Pick<ProbeEdges, 'systemd'>): Ask<'service'> {
  return async (_check, _signal, { component: { service } }) => {
    if (service === undefined) return unknown('it has no service')
    const { active, sub } = await systemd.show(service.name)
    return active === 'active' ? well : failed('HEALTH_NOT_RUNNING', `${service.name} is ${active} (${sub})`)
  }
}
