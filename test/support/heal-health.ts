import type { Host } from '../../lab/hosts/host.ts'
import type { HealAction, HostHealth } from '../../src/contract/health.ts'
import { responseFormat } from '../../src/contract/request.ts'
import { readVersionedLenient } from '../../src/contract/versioned.ts'

const healthRequest = JSON.stringify({
  apiVersion: 'hyperkube.dev/v1',
  kind: 'AgentRequest',
  body: { type: 'health' },
})
const timeoutMs = 8000

/**
 * Reads the health of a host from the socket of its agent. Starting hyperkube for each read would load the
 * host.
 */
export async function readHostHealth(host: Host): Promise<HostHealth> {
  const { stdout } = await host.script(
    `echo '${healthRequest}' | timeout 5 socat -t 5 - UNIX-CONNECT:/run/hyperkube/agent.sock`,
    { signal: AbortSignal.timeout(timeoutMs) },
  )
  const { body } = readVersionedLenient(responseFormat, JSON.parse(stdout))
  if (body.type !== 'health') throw new Error(`the agent of ${host.name} answered with ${body.type}`)
  return body.health
}

/** True if all components are healthy and no local probe fails. Remote probes do not count. */
export function isHostHealthy({ components, probes }: Pick<HostHealth, 'components' | 'probes'>): boolean {
  return (
    components.every(({ state }) => state === 'healthy') &&
    probes.every(({ scope, state }) => scope === 'remote' || state !== 'unhealthy')
  )
}

/**
 * Returns the earliest time since `began` at which a probe failed or the agent acted. Undefined if the
 * reported health contains neither.
 */
export function findDetectionTime(
  { probes, actions }: Pick<HostHealth, 'probes' | 'actions'>,
  began: number,
): number | undefined {
  const failing = probes.filter(({ state }) => state === 'unhealthy').map(({ since }) => Date.parse(since))
  const acted = actions.filter(({ action }) => action !== 'recovered').map(({ at }) => Date.parse(at))
  const times = [...failing, ...acted].filter((time) => time >= began)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Lists the actions of the agent since `began`, oldest first. `recovered` entries are left out. */
export function listActionsSince({ actions }: Pick<HostHealth, 'actions'>, began: number): HealAction[] {
  return actions.filter(({ action, at }) => action !== 'recovered' && Date.parse(at) >= began).toReversed()
}
