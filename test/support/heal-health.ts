import type { Host } from '../../lab/hosts/host.ts'
import type { HealAction, HostHealth } from '../../src/contract/health.ts'
import { responseFormat } from '../../src/contract/request.ts'
import { readTold } from '../../src/contract/versioned.ts'

const question = JSON.stringify({
  apiVersion: 'hyperkube.dev/v1',
  kind: 'AgentRequest',
  ask: { type: 'health' },
})
const patience = 8000

/** How a host is, as its agent knows it by now. Asked at its socket: a program of ours for each question would be a load. */
export async function healthOf(host: Host): Promise<HostHealth> {
  const { stdout } = await host.script(
    `echo '${question}' | timeout 5 socat -t 5 - UNIX-CONNECT:/run/hyperkube/agent.sock`,
    { signal: AbortSignal.timeout(patience) },
  )
  const { answer } = readTold(responseFormat, JSON.parse(stdout))
  if (answer.type !== 'health') throw new Error(`the agent of ${host.name} answered with ${answer.type}`)
  return answer.health
}

/** Whether its agent has nothing to complain of, and is at nothing. The world around it is not asked about. */
export function saysWell({ components, probes }: Pick<HostHealth, 'components' | 'probes'>): boolean {
  return (
    components.every(({ state }) => state === 'well') &&
    probes.every(({ scope, state }) => scope === 'remote' || state !== 'failing')
  )
}

/** When an agent first knew of something that has happened since, of what it still remembers. */
export function detectedSince(
  { probes, actions }: Pick<HostHealth, 'probes' | 'actions'>,
  began: number,
): number | undefined {
  const failing = probes.filter(({ state }) => state === 'failing').map(({ since }) => Date.parse(since))
  const acted = actions.filter(({ action }) => action !== 'recovered').map(({ at }) => Date.parse(at))
  const times = [...failing, ...acted].filter((time) => time >= began)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** What an agent has done since, the oldest first. */
export function actionsSince({ actions }: Pick<HostHealth, 'actions'>, began: number): HealAction[] {
  return actions.filter(({ action, at }) => action !== 'recovered' && Date.parse(at) >= began).toReversed()
}
