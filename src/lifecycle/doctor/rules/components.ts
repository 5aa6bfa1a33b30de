import type { ComponentHealth, HealAction, HostHealth } from '../../../contract/health.ts'
import type { HostLook } from '../../observe/observe-host.ts'
import type { Look } from '../../observe/observe-cluster.ts'
import type { ServiceStatus } from '../../status/services.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { healingOf } from '../healing.ts'
import { aboutHealing, isForPeople } from '../code-order.ts'
import { sentenceOf } from '../summaries.ts'
import { probesOf } from './probes.ts'

/** What agents say of components beyond what probes saw, and what systemd says where nobody else does. */
export function unwellComponents({ hosts }: Look): Diagnosis[] {
  return hosts.flatMap((look) => {
    const health = look.agent.state === 'answers' ? look.agent.health : undefined
    return [...stopped(look, health), ...(health === undefined ? [] : told(look, health))]
  })
}

/** The services of a host that do not run. Its agent's own is told of elsewhere. */
function stopped(look: HostLook, health: HostHealth | undefined): Diagnosis[] {
  // Nobody has brought anything there yet.
  if (look.version === undefined && health === undefined) return []
  const { place, logs } = look
  const seen = new Set(
    probesOf(look).flatMap(({ component, code }) => (code === 'HEALTH_NOT_RUNNING' ? [component] : [])),
  )
  return look.services
    .filter(({ name, state }) => state !== 'active' && name !== 'hyperkube-agent' && !seen.has(name))
    .map((service) => {
      const healing = health === undefined ? undefined : healingOf(health, service.name)
      return {
        ...headOf('HEALTH_NOT_RUNNING', place.host, service.name),
        evidence: [systemdSays(service), ...(logs.get(service.name) ?? [])],
        ...(healing === undefined ? {} : { healing: healing.healing }),
        needsPerson: healing?.isOver ?? false,
      }
    })
}

function systemdSays({ name, state, restarts }: ServiceStatus): string {
  const times = restarts === 0 ? '' : `, started again ${restarts === 1 ? 'once' : `${restarts} times`}`
  return `systemd: ${name} is ${state}${times}`
}

/** What has a code of its own, or nobody else has told of: dangers, what only an operator can bring, what was given up. */
function told({ place: { host } }: HostLook, health: HostHealth): Diagnosis[] {
  return health.components.flatMap((component): Diagnosis[] => {
    const refused = refusal(health.actions, component)
    const code = refused?.code ?? component.code
    const isUnwell = component.state !== 'well' && component.state !== 'healing'
    const isKnown =
      code === undefined ||
      aboutHealing.has(code) ||
      health.probes.some((probe) => probe.component === component.component && probe.code === code)
    const isTold = health.probes.some(
      ({ component: name, scope, state }) =>
        name === component.component && scope === 'local' && (state === 'failing' || state === 'shaky'),
    )
    if (!isUnwell || (isKnown && isTold)) return []
    const healing = healingOf(health, component.component)
    const own = code ?? 'HEALTH_UNWELL'
    return [
      {
        ...headOf(own, host, component.component),
        since: component.since,
        evidence: [
          ...(component.because === undefined ? [] : [component.because]),
          ...(refused === undefined ? [] : [refused.because, ...refused.details]),
        ],
        ...(healing === undefined ? {} : { healing: healing.healing }),
        needsPerson: isForPeople(own) || (healing?.isOver ?? false),
      },
    ]
  })
}

/** What the agent would not do, and has not been able to do since. */
function refusal(actions: readonly HealAction[], { component }: ComponentHealth): HealAction | undefined {
  const last = actions.find((action) => action.component === component)
  return last?.action === 'refuse' ? last : undefined
}

function headOf(
  code: string,
  host: string,
  component: string,
): Pick<Diagnosis, 'code' | 'severity' | 'what' | 'host' | 'component' | 'command'> {
  return {
    code,
    severity: 'error',
    what: sentenceOf(code, component),
    host,
    component,
    command: commandFor({ code, host, component }),
  }
}
