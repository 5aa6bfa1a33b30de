import type { NodePlan } from '../../../contract/node-plan.ts'
import { formatError } from '../../../kit/errors.ts'
import type { Healer } from '../../heal/healer.ts'
import { captureServiceLogs as capture } from '../../heal/linux/capture-logs.ts'
import { findUnit } from '../../heal/linux/restart-component.ts'
import type { WatchedPlan } from '../../heal/watch-host.ts'
import type { Host, LinuxHost, WindowsHost } from '../../host/host.ts'
import type { TickResult } from '../../runs/run-loop.ts'
import { hostBusyError, type RequestHandlers, unsupportedError } from '../request-handlers.ts'
import { createDefragmentHandler, type DefragmentDeps } from './defragment-etcd.ts'
import { createTakeSnapshotHandler, type TakeSnapshotDeps } from './take-snapshot.ts'

export interface RequestHandlerDeps extends Omit<DefragmentDeps, 'host'>, TakeSnapshotDeps {
  readonly host: Host
  readonly plan: () => Promise<WatchedPlan | undefined>
  readonly renew: RenewNow
}

/**
 * Creates the handlers for all actions that can be requested of a host. A handler fails with HOST_UNSUPPORTED
 * if the host does not support its action.
 */
export function createRequestHandlers(deps: RequestHandlerDeps): RequestHandlers {
  const { host, healer, renew } = deps
  return {
    check: createCheckHandler(healer),
    'capture-logs': createCaptureLogsHandler({ host, plan: async () => (await deps.plan())?.plan }),
    'renew-certificates': createRenewHandler(renew),
    'defragment-etcd': createDefragmentHandler(deps),
    'take-snapshot': createTakeSnapshotHandler(deps),
  }
}

/**
 * Creates the handler that runs all probes now. The reported host status is still updated at the intervals of
 * the probes.
 */
export function createCheckHandler(healer: Pick<Healer, 'health'>): RequestHandlers['check'] {
  return async (_action, signal) => {
    const { components, probes } = await healer.health(true, signal)
    const unhealthy = components.filter(({ state }) => state !== 'healthy')
    const failing = probes.filter(({ state }) => state === 'unhealthy' || state === 'degraded')
    const lines = [
      ...unhealthy.map(({ component, state, because }) => withReason(`${component} is ${state}`, because)),
      ...failing.map(({ component, probe, message }) => withReason(`${component}: ${probe} fails`, message)),
    ]
    return lines.length > 0
      ? lines
      : [`${components.length} components and ${probes.length} probes are healthy`]
  }
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? text : `${text}: ${reason}`
}

/** Runs the agent's regular certificate check now. Messages about renewed certificates go to `log`. */
export type RenewNow = (log: (text: string) => void) => Promise<TickResult>

export function createRenewHandler(renew: RenewNow): RequestHandlers['renew-certificates'] {
  return async () => {
    const messages: string[] = []
    const { problems } = await renew((text) => void messages.push(text))
    if (problems === undefined) throw hostBusyError()
    const [first] = problems
    if (first !== undefined && messages.length === 0)
      throw first instanceof Error ? first : new Error(formatError(first))
    const lines = [...messages, ...problems.map(formatError)]
    return lines.length > 0
      ? lines
      : ['no certificate is due, or control planes have not signed the requests yet']
  }
}

interface CaptureLogsDeps {
  readonly host: LinuxHost | Pick<WindowsHost, 'os' | 'layout'>
  readonly plan: () => Promise<NodePlan | undefined>
}

/**
 * Creates the handler that captures logs. It accepts only names of components in the plan, because the name
 * becomes part of a path.
 */
export function createCaptureLogsHandler({ host, plan }: CaptureLogsDeps): RequestHandlers['capture-logs'] {
  return async ({ component }) => {
    if (host.os === 'windows') {
      throw unsupportedError('logs of Windows hosts are not captured', `on the host: dir ${host.layout.logs}`)
    }
    const current = await plan()
    const unit = current && findUnit(current, component)
    if (unit === undefined) {
      throw unsupportedError(
        'this host has no service of that name',
        'to list its services: hyperkube status',
      )
    }
    return capture(host, component, unit.name)
  }
}
