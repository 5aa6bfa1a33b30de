import type { ComponentHealth, HealAction, HostHealth } from '../../../contract/health.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import type { HostHealthObservation } from '../../observe/observe-host.ts'
import type { ServiceStatus } from '../../observe/services.ts'
import { suggestCommand, summarizeCode } from '../commands.ts'
import { type Diagnosis, healingProgressCodes, needsOperatorAction } from '../diagnosis.ts'
import { describeHealing } from '../healing.ts'
import { listProbes } from './probes.ts'

/**
 * Finds unhealthy components: stopped services, and problems that the agent reports without a failing probe.
 */
export function findUnhealthyComponents({ hosts, endpoints }: ClusterHealthObservation): Diagnosis[] {
  const isOnlyMember = endpoints.filter(({ etcd }) => etcd).length === 1
  return hosts.flatMap((observation) => {
    const health = observation.agent.state === 'reachable' ? observation.agent.health : undefined
    return [
      ...findStopped(observation, health),
      ...(health === undefined ? [] : findReported(observation, health, isOnlyMember)),
    ]
  })
}

/** Finds services of a host that are not active. The agent's own service has a separate rule. */
function findStopped(observation: HostHealthObservation, health: HostHealth | undefined): Diagnosis[] {
  // hyperkube is not installed on this host yet, so it is no problem that services are not active.
  if (observation.version === undefined && health === undefined) return []
  const { endpoint, logs } = observation
  const probed = new Set(
    listProbes(observation).flatMap(({ component, code }) =>
      code === 'HEALTH_NOT_RUNNING' ? [component] : [],
    ),
  )
  return observation.services
    .filter(({ name, state }) => state !== 'active' && name !== 'hyperkube-agent' && !probed.has(name))
    .map((service) => {
      const healing = health === undefined ? undefined : describeHealing(health, service.name)
      return {
        ...buildHead('HEALTH_NOT_RUNNING', endpoint.host, service.name),
        evidence: [formatSystemdState(service), ...(logs.get(service.name) ?? [])],
        ...(healing === undefined ? {} : { healing: healing.healing }),
        needsOperator: healing?.isExhausted ?? false,
      }
    })
}

function formatSystemdState({ name, state, restarts }: ServiceStatus): string {
  const times = restarts === 0 ? '' : `, restarted ${restarts === 1 ? 'once' : `${restarts} times`}`
  return `systemd: ${name} is ${state}${times}`
}

/**
 * Finds unhealthy components that the probes do not explain. Either no local probe fails, or the agent
 * reports a code that no probe of the component has. Examples are data risks, resources that only an operator
 * can repair, and exhausted healing.
 */
function findReported(
  { endpoint: { host } }: HostHealthObservation,
  health: HostHealth,
  isOnlyMember: boolean,
): Diagnosis[] {
  return health.components.flatMap((component): Diagnosis[] => {
    const refusedAction = findRefusal(health.actions, component)
    const code = refusedAction?.code ?? component.code
    const isUnhealthy = component.state !== 'healthy' && component.state !== 'healing'
    const isKnown =
      code === undefined ||
      healingProgressCodes.has(code) ||
      health.probes.some((probe) => probe.component === component.component && probe.code === code)
    const isReported = health.probes.some(
      ({ component: name, scope, state }) =>
        name === component.component && scope === 'local' && (state === 'unhealthy' || state === 'degraded'),
    )
    if (!isUnhealthy || (isKnown && isReported)) return []
    const healing = describeHealing(health, component.component)
    const effectiveCode = code ?? 'HEALTH_CHECK_FAILED'
    return [
      {
        ...buildHead(effectiveCode, host, component.component, isOnlyMember),
        since: component.since,
        evidence: [
          ...(component.because === undefined ? [] : [component.because]),
          ...(refusedAction === undefined ? [] : [refusedAction.because, ...refusedAction.details]),
        ],
        ...(healing === undefined ? {} : { healing: healing.healing }),
        needsOperator: needsOperatorAction(effectiveCode) || (healing?.isExhausted ?? false),
      },
    ]
  })
}

/** Returns the last action for a component if the agent refused to act. */
function findRefusal(actions: readonly HealAction[], { component }: ComponentHealth): HealAction | undefined {
  const last = actions.find((action) => action.component === component)
  return last?.action === 'refuse' ? last : undefined
}

function buildHead(
  code: string,
  host: string,
  component: string,
  isOnlyMember = false,
): Pick<Diagnosis, 'code' | 'severity' | 'what' | 'host' | 'component' | 'command'> {
  return {
    code,
    severity: 'error',
    what: summarizeCode(code, component),
    host,
    component,
    command: suggestCommand({ code, host, component, isOnlyMember }),
  }
}

/**
 * Finds full disks that no probe has reported. On a full disk the agent may have failed before it could
 * report.
 */
export function findFullDisks({ hosts }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap((observation) => {
    const { host, os } = observation.endpoint
    const isReported = listProbes(observation).some(
      ({ code, state }) => code === 'DISK_FULL' && (state === 'unhealthy' || state === 'degraded'),
    )
    if (isReported || observation.disks.length === 0) return []
    return [
      {
        code: 'DISK_FULL',
        severity: 'error',
        what: `a disk of ${host} is full`,
        host,
        evidence: observation.disks.map(
          ({ mounted, usedShare }) => `${mounted} is ${(usedShare * 100).toFixed(1)} % full`,
        ),
        command: suggestCommand({ code: 'DISK_FULL', host, os }),
        needsOperator: true,
      } as const,
    ]
  })
}
