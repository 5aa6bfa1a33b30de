import { formatError, HyperkubeError } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import {
  type AgentObservation,
  type AgentObserveOptions,
  callWithTimeout,
  observeAgent,
  throwIfInterrupted,
} from './observe-agent.ts'
import { type DiskState, observeDiskState } from './observe-disks.ts'
import {
  type HostServicesObservation,
  type LastLogLines,
  listServiceNames,
  readHostServices,
  readLastLogLines,
} from './services.ts'

/** Why a host was not reached. */
export interface Unreachable {
  readonly code: string
  readonly reason: string
  readonly hint?: string
}

/** The state of one host, as observed by ssh and as reported by its agent. */
export interface HostHealthObservation extends HostServicesObservation, DiskState {
  readonly endpoint: HostEndpoint
  /** Undefined if the host was reached. If set, nothing else was observed on the host. */
  readonly unreachable: Unreachable | undefined
  readonly agent: AgentObservation
  /** Last log lines of unhealthy services. */
  readonly logs: LastLogLines
}

export interface HostObserveOptions extends AgentObserveOptions {
  /** True to also read disks, programs and last log lines, which help to explain problems. */
  readonly deep: boolean
}

/** Timeout for the ssh login. A running host accepts a login within seconds. */
const loginTimeoutMs = 12_000
/** Timeout for reading units and files. */
const inspectTimeoutMs = 12_000

const emptyDiskState: DiskState = { disks: [], programs: [] }
const noServices: HostServicesObservation = { version: undefined, services: [] }

export async function observeHost(
  endpoint: HostEndpoint,
  connect: () => Promise<Remote>,
  options: HostObserveOptions,
): Promise<HostHealthObservation> {
  const { deep, signal } = options
  try {
    const remote = await callWithTimeout(loginTimeoutMs, signal, connect)
    const names = listServiceNames(endpoint)
    const units = callWithTimeout(inspectTimeoutMs, signal, async (stepSignal) =>
      readHostServices(remote, names, stepSignal),
    )
    const [agent, [serviceResult], diskState] = await Promise.all([
      observeAgent(remote, options),
      Promise.allSettled([units]),
      deep
        ? callWithTimeout(inspectTimeoutMs, signal, async (stepSignal) =>
            observeDiskState(remote, names, stepSignal),
          ).catch(() => emptyDiskState)
        : emptyDiskState,
    ])
    // If neither the agent nor the service manager answers, the host counts as unreachable.
    if (serviceResult.status === 'rejected' && agent.state === 'unreachable') throw serviceResult.reason
    const services = serviceResult.status === 'fulfilled' ? serviceResult.value : noServices
    const observed = { endpoint, unreachable: undefined, agent, ...services, ...diskState }
    const logs = deep
      ? await callWithTimeout(inspectTimeoutMs, signal, async (stepSignal) =>
          readLastLogLines(remote, listUnhealthyServices(observed), stepSignal),
        ).catch(() => new Map<string, readonly string[]>())
      : new Map<string, readonly string[]>()
    return { ...observed, logs }
  } catch (error) {
    throwIfInterrupted(signal)
    return buildUnreachableHost(endpoint, toUnreachable(error))
  }
}

export function buildUnreachableHost(
  endpoint: HostEndpoint,
  unreachable: Unreachable,
): HostHealthObservation {
  const agent: AgentObservation = { state: 'unreachable', reason: unreachable.reason }
  return { endpoint, unreachable, agent, ...noServices, ...emptyDiskState, logs: new Map() }
}

/** Lists services whose logs may explain a problem. */
function listUnhealthyServices({
  services,
  agent,
}: Pick<HostHealthObservation, 'services' | 'agent'>): string[] {
  const stopped = services.flatMap(({ name, state }) =>
    state === 'active' || state === 'missing' ? [] : [name],
  )
  if (agent.state === 'unreachable') return [...new Set(['hyperkube-agent', ...stopped])]
  const failing = (agent.health?.probes ?? []).flatMap(({ component, scope, state }) =>
    scope === 'local' && (state === 'unhealthy' || state === 'degraded') ? [component] : [],
  )
  return [...new Set([...stopped, ...failing])]
}

function toUnreachable(error: unknown): Unreachable {
  if (!(error instanceof HyperkubeError)) return { code: 'HOST_UNREACHABLE', reason: formatError(error) }
  const { code, message, hint } = error
  // For the operator, a timeout and a lost connection both mean that the host is unreachable.
  const isUnreachable = code === 'SSH_UNREACHABLE' || code === 'SSH_LOST' || code === 'TIMED_OUT'
  return {
    code: isUnreachable ? 'HOST_UNREACHABLE' : code,
    reason: error.cause === undefined ? message : `${message}: ${formatError(error.cause)}`,
    ...(hint === undefined || isUnreachable ? {} : { hint }),
  }
}
