import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { Op } from '../../contract/op.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import type { Host } from '../host/host.ts'
import { isDown, type UnitState } from '../host/service-manager.ts'
import type { ManagedResource } from '../resources/resource-handler.ts'
import type { EmitRunEvent } from '../records/run-op.ts'
import { beginWatch, readStartStatus, startTimeoutMs, type StartWatch, updateWatch } from './start-status.ts'
import { waitFor, type WaitOptions, type WaitResult } from '../resources/wait-for.ts'

/** Maximum number of log lines that are shown for a failed service. */
const maxLogLines = 20

/** A service to start and its state before the start. */
export interface ServiceStart {
  readonly service: ManagedResource<'service'>
  readonly action: 'start' | 'restart'
  readonly component: ComponentPlan
  readonly before: UnitState
}

/** Services that start together, each with its op. */
export type ServiceStarts = readonly { readonly op: Op; readonly start: ServiceStart }[]

export interface BegunServiceStart {
  /** What the service manager must do; undefined if the service already runs. */
  readonly request: 'start' | 'restart' | undefined
  /** True if an enable, start or restart was needed. */
  readonly changed: boolean
  readonly watch: StartWatch
}

/**
 * Enables the services and reloads the supervisor. An earlier run may have been interrupted before the
 * supervisor read a changed unit file. A reload is slow, so it is skipped for new services whose unit files
 * are loaded.
 */
export async function enableAndReload(host: Host, starts: readonly ServiceStart[]): Promise<void> {
  const { services } = host
  const disabled = starts.filter(({ before }) => !before.enabled)
  if (disabled.length > 0) await services.enable(disabled.map(({ service }) => service.name))
  if (!starts.every(isFirstStart)) {
    await services.reload()
    return
  }
  const states = await services.showAll(starts.map(({ service }) => service.name))
  if (!states.every(isLoadedAndEnabled)) await services.reload()
}

function isFirstStart({ service, action, before }: ServiceStart): boolean {
  return action === 'start' && !service.started && before.active === 'inactive' && before.invocation === ''
}

function isLoadedAndEnabled({ load, enabled, needsReload }: UnitState): boolean {
  return load === 'loaded' && enabled && !needsReload
}

/**
 * True if the service must be restarted. Pending changes require a restart, because services read changed
 * files only when they start.
 */
export function willRestart({ action, service }: Pick<ServiceStart, 'action' | 'service'>): boolean {
  return action === 'restart' || service.pendingChanges.length > 0
}

/** Describes the request for a start or restart, and how to watch it. */
export function beginServiceStart(start: ServiceStart, now: number): BegunServiceStart {
  const { service, component, before } = start
  const { name } = service
  const mustRestart = willRestart(start)
  const isUp = before.active === 'active' && !before.busy
  const previousInvocation = mustRestart && before.invocation !== '' ? before.invocation : undefined
  return {
    request: mustRestart ? 'restart' : isUp ? undefined : 'start',
    changed: !before.enabled || mustRestart || !isUp,
    watch: beginWatch(name, before, previousInvocation, now, startTimeoutMs(component)),
  }
}

/** Requests all restarts with one call and then all starts with one call. */
export async function requestStarts({ services }: Host, begun: readonly BegunServiceStart[]): Promise<void> {
  for (const action of ['restart', 'start'] as const) {
    const units = begun.filter(({ request }) => request === action).map(({ watch }) => watch.unit)
    if (units.length > 0) await services.startAll(action, units)
  }
}

/**
 * Maximum number of milliseconds between two queries. A query costs the agent, systemctl and systemd about 15
 * ms of processor time. The starting services need this time themselves.
 */
const maxIntervalMs = 1000

export interface AwaitedStart {
  readonly watch: StartWatch
  readonly component: string
}

/**
 * The services that run, and the first service that failed, if any. After a failure, the run does not wait
 * for the other services.
 */
export interface StartsResult {
  readonly running: ReadonlySet<string>
  readonly failed?: { readonly unit: string; readonly error: unknown }
}

/** Waits until all services run or one has failed. */
export async function awaitStarts(
  host: Host,
  starts: readonly AwaitedStart[],
  emit: EmitRunEvent,
  signal: AbortSignal,
): Promise<StartsResult> {
  const running = new Set<string>()
  let pending = starts.map((start) => ({ ...start, for: '' }))
  const check = async (): Promise<WaitResult<StartsResult>> => {
    const states = await host.services.showAll(pending.map(({ watch }) => watch.unit))
    const now = host.clock.now().getTime()
    const stillPending: typeof pending = []
    for (const [index, { watch: before, component }] of pending.entries()) {
      const state = states[index]
      if (state === undefined) throw new Error(`the supervisor reported nothing about ${before.unit}`)
      const watch = updateWatch(before, state, now)
      const status = readStartStatus(watch, state, now)
      if (status.is === 'failed') {
        const error = await buildStartError(host, watch.unit, status.how, component, emit)
        return { found: { running, failed: { unit: watch.unit, error } } }
      }
      if (status.is === 'running') running.add(watch.unit)
      else stillPending.push({ watch, component, for: status.for })
    }
    pending = stillPending
    return pending.length === 0 ? { found: { running } } : { for: pending.map((one) => one.for).join(', ') }
  }
  const emitWaiting: WaitOptions['emit'] = (what) => {
    if (what.type !== 'waiting') return
    for (const one of pending) emit({ ...what, for: one.for }, one.component)
  }
  return waitFor(check, { clock: host.clock, signal, emit: emitWaiting, maxIntervalMs })
}

export async function buildStartError(
  host: Host,
  unit: string,
  how: string,
  component: string,
  emit: EmitRunEvent,
): Promise<HyperkubeError> {
  const lines = (await host.services.lines(unit, maxLogLines)).map(toPrintable)
  emit({ type: 'log', lines }, component)
  const logText = lines.length === 0 ? '' : `:\n  ${lines.join('\n  ')}`
  return new HyperkubeError('SERVICE_FAILED', `${unit} does not start (${how})${logText}`, {
    component,
    hint: host.os === 'linux' ? `on the host: journalctl -u ${unit} -e` : `on the host: sc.exe query ${unit}`,
  })
}

/**
 * Stops a service and waits until it has stopped. The agent's own service is skipped, because the stop would
 * end this run.
 */
export async function stopService(
  host: Host,
  name: string,
  component: string,
  emit: EmitRunEvent,
  signal: AbortSignal,
  immediately = false,
): Promise<boolean> {
  const { clock, release } = host
  const { services } = host
  const before = await services.show(name)
  if (before.pid === release.pid || isDown(before)) return false
  await services.stop(name)
  if (immediately) await services.kill(name)
  await waitFor(
    async () => {
      const state = await services.show(name)
      return isDown(state) ? { found: undefined } : { for: `${name} to stop (${state.active}, ${state.sub})` }
    },
    { clock, signal, emit: (what) => emit(what, component) },
  )
  return true
}
