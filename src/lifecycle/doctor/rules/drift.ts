import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import type { HostHealthObservation } from '../../observe/observe-host.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { describeHealing } from '../healing.ts'

/** Finds components with drift, both reported by the agent and observed by ssh. */
export function findDrift({ hosts }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap((observation) => {
    const { host } = observation.endpoint
    const health = observation.agent.state === 'reachable' ? observation.agent.health : undefined
    return [...Map.groupBy(listDriftedResources(observation), ({ component }) => component)].map(
      ([component, resources]) => {
        const described = health === undefined ? undefined : describeHealing(health, component)
        return {
          code: 'SERVICE_DRIFT',
          severity: 'error',
          what: `resources of ${component} differ from the applied plan`,
          host,
          component,
          evidence: [...new Set(resources.map(({ text }) => text))],
          command: suggestCommand({ code: 'SERVICE_DRIFT', host, component }),
          ...(described === undefined ? {} : { healing: described.healing }),
          needsOperator: health === undefined || (described?.isExhausted ?? false),
        } as const
      },
    )
  })
}

interface DriftedResource {
  readonly component: string
  readonly text: string
}

function listDriftedResources({
  agent,
  services,
  programs,
  version,
}: HostHealthObservation): DriftedResource[] {
  const health = agent.state === 'reachable' ? agent.health : undefined
  if (version === undefined && health === undefined) return []
  const components = health?.components ?? []
  return [
    ...components.flatMap(({ component, drift, service }) => [
      ...drift.map(({ target, name, difference }) => ({
        component,
        text: `${target} ${name}: ${difference}`,
      })),
      ...(service?.enabled === false ? [toDisabledService(component)] : []),
    ]),
    ...services.flatMap(({ name, state, enabled }) => [
      ...(state === 'missing'
        ? [{ component: name, text: `service ${name}: the unit file is missing` }]
        : []),
      ...(state !== 'missing' && enabled === false ? [toDisabledService(name)] : []),
    ]),
    ...programs.map(({ service, path }) => ({
      component: service,
      text: `binary ${path}: missing or empty`,
    })),
  ]
}

function toDisabledService(component: string): DriftedResource {
  return { component, text: `service ${component}: disabled, so it does not start after a reboot` }
}

/** Finds hosts where an operator has paused healing. */
export function findPausedHosts({ hosts }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap(({ endpoint: { host }, agent }): Diagnosis[] => {
    const paused = agent.state === 'reachable' ? agent.health?.paused : undefined
    if (paused === undefined) return []
    return [
      {
        code: 'HEAL_PAUSED',
        severity: 'warning',
        what: `healing on ${host} is paused until ${paused.until}`,
        host,
        evidence: [`paused by ${paused.by}`],
        command: suggestCommand({ code: 'HEAL_PAUSED', host }),
        needsOperator: false,
      },
    ]
  })
}
