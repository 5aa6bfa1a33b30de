import type { ComponentPlan } from '../../contract/component-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { type Host, servicesOf } from '../host/host.ts'
import { isDown, type UnitState } from '../host/systemd.ts'
import type { Emit } from './emit-run-event.ts'
import { beginWatch, patienceWith, verdict, type Watch, watchOn } from './start-status.ts'
import type { Thing } from './resource-handler.ts'
import { type Look, waitFor, type Waiting } from './wait-for.ts'

/** How many lines of a service that failed are shown. */
const lastLines = 20

/** A service that shall start, and what it was before. */
export interface Start {
  readonly service: Thing<'service'>
  readonly action: 'start' | 'restart'
  readonly component: ComponentPlan
  readonly before: UnitState
}

export interface Starting {
  /** Whether anything had to be asked for. */
  readonly changed: boolean
  readonly watch: Watch
}

/** Whatever is to start reads its file anew: who was cut may have left it unread. */
export async function makeReady(host: Host, starts: readonly Start[]): Promise<void> {
  const services = servicesOf(host)
  const missing = starts.filter(({ before }) => !before.enabled)
  if (missing.length > 0) await services.enable(missing.map(({ service }) => service.name))
  await services.reload()
}

/** Asks for a start and does not wait for it. What a service has not seen yet it sees only when it starts anew. */
export async function beginStart(host: Host, start: Start): Promise<Starting> {
  const { service, action, component, before } = start
  const { name, unseen } = service
  const anew = action === 'restart' || unseen.length > 0
  const isUp = before.active === 'active' && !before.busy
  if (anew) await servicesOf(host).restart(name)
  else if (!isUp) await servicesOf(host).start(name)
  const former = anew && before.invocation !== '' ? before.invocation : undefined
  const watch = beginWatch(name, before, former, host.clock.now().getTime(), patienceWith(component))
  return { changed: !before.enabled || anew || !isUp, watch }
}

export interface Awaited {
  readonly watch: Watch
  readonly component: string
}

/** Which of them run, and the first of which there is no hope, which ends the wait for the others. */
export interface Ended {
  readonly running: ReadonlySet<string>
  readonly failed?: { readonly unit: string; readonly error: unknown }
}

/** Waits until all run, for as long as there is hope. */
export async function awaitStarts(
  host: Host,
  starts: readonly Awaited[],
  emit: Emit,
  signal: AbortSignal,
): Promise<Ended> {
  const running = new Set<string>()
  let pending = starts.map((start) => ({ ...start, for: '' }))
  const look = async (): Promise<Look<Ended>> => {
    const states = await servicesOf(host).showAll(pending.map(({ watch }) => watch.unit))
    const now = host.clock.now().getTime()
    const still: typeof pending = []
    for (const [index, { watch: before, component }] of pending.entries()) {
      const state = states[index]
      if (state === undefined) throw new Error(`the supervisor has told nothing of ${before.unit}`)
      const watch = watchOn(before, state, now)
      const seen = verdict(watch, state, now)
      if (seen.is === 'failed') {
        const error = await failure(host, watch.unit, seen.how, component, emit)
        return { found: { running, failed: { unit: watch.unit, error } } }
      }
      if (seen.is === 'running') running.add(watch.unit)
      else still.push({ watch, component, for: seen.for })
    }
    pending = still
    return pending.length === 0 ? { found: { running } } : { for: pending.map((one) => one.for).join(', ') }
  }
  const tell: Waiting['tell'] = (what) => {
    if (what.type !== 'waiting') return
    for (const one of pending) emit({ ...what, for: one.for }, one.component)
  }
  return waitFor(look, { clock: host.clock, signal, tell })
}

export async function failure(
  host: Host,
  unit: string,
  how: string,
  component: string,
  emit: Emit,
): Promise<HyperkubeError> {
  const lines = (await servicesOf(host).lines(unit, lastLines)).map(printable)
  emit({ type: 'log', lines }, component)
  const said = lines.length === 0 ? '' : `:\n  ${lines.join('\n  ')}`
  return new HyperkubeError('SERVICE_FAILED', `${unit} does not come up (${how})${said}`, {
    component,
    hint: host.os === 'linux' ? `on the host: journalctl -u ${unit} -e` : `on the host: sc.exe query ${unit}`,
  })
}

/** Asks for a stop and waits for it. A service of our own process would take us with it: that one is left. */
export async function stopService(
  host: Host,
  name: string,
  component: string,
  emit: Emit,
  signal: AbortSignal,
  atOnce = false,
): Promise<boolean> {
  const { clock, release } = host
  const services = servicesOf(host)
  const before = await services.show(name)
  if (before.pid === release.pid || isDown(before)) return false
  await services.stop(name)
  if (atOnce) await services.kill(name)
  await waitFor(
    async () => {
      const state = await services.show(name)
      return isDown(state) ? { found: undefined } : { for: `${name} to end (${state.active}, ${state.sub})` }
    },
    { clock, signal, tell: (what) => emit(what, component) },
  )
  return true
}
