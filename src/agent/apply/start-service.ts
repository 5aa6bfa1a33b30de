import type { ComponentPlan } from '../../contract/component-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { LinuxHost } from '../host/host.ts'
import type { Emit } from './emit.ts'
import { beginWatch, patienceWith, verdict, type Watch, watchOn } from './service-verdict.ts'
import type { Thing } from './target.ts'
import { waitFor } from './wait-for.ts'

/** How many lines of a service that failed are shown. */
const lastLines = 20

export interface Starting {
  /** Whether anything had to be asked for. */
  readonly changed: boolean
  readonly watch: Watch
}

/** Asks for a start and does not wait for it. What a service has not seen yet it sees only when it starts anew. */
export async function beginStart(
  host: LinuxHost,
  { name, unseen }: Thing<'service'>,
  action: 'start' | 'restart',
  component: ComponentPlan,
): Promise<Starting> {
  const { systemd, clock } = host
  const before = await systemd.show(name)
  // Either way systemd reads its file anew: who was cut may have left it unread.
  await (before.enabled ? systemd.reload() : systemd.enable(name))
  const anew = action === 'restart' || unseen.length > 0
  const isUp = before.active === 'active' && !before.busy
  if (anew) await systemd.restart(name)
  else if (!isUp) await systemd.start(name)
  const former = anew && before.invocation !== '' ? before.invocation : undefined
  const watch = beginWatch(name, before, former, clock.now().getTime(), patienceWith(component))
  return { changed: !before.enabled || anew || !isUp, watch }
}

/** Waits until it runs, for as long as there is hope. */
export async function awaitStart(
  host: LinuxHost,
  begun: Watch,
  component: string,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  let watch = begun
  await waitFor(
    async () => {
      const state = await host.systemd.show(watch.unit)
      const now = host.clock.now().getTime()
      watch = watchOn(watch, state, now)
      const seen = verdict(watch, state, now)
      if (seen.is === 'failed') throw await failure(host, watch.unit, seen.how, component, emit)
      return seen.is === 'running' ? { found: undefined } : { for: seen.for }
    },
    { clock: host.clock, signal, tell: (what) => emit(what, component) },
  )
}

async function failure(
  { systemd }: LinuxHost,
  unit: string,
  how: string,
  component: string,
  emit: Emit,
): Promise<HyperkubeError> {
  const lines = (await systemd.lines(unit, lastLines)).map(printable)
  emit({ type: 'log', lines }, component)
  const said = lines.length === 0 ? '' : `:\n  ${lines.join('\n  ')}`
  return new HyperkubeError('SERVICE_FAILED', `${unit} does not come up (${how})${said}`, {
    component,
    hint: `on the host: journalctl -u ${unit} -e`,
  })
}

/** Asks for a stop and waits for it. A service of our own process would take us with it: that one is left. */
export async function stopService(
  host: LinuxHost,
  name: string,
  component: string,
  emit: Emit,
  signal: AbortSignal,
): Promise<boolean> {
  const { systemd, clock, release } = host
  const { active, pid, busy } = await systemd.show(name)
  if (pid === release.pid || (!busy && ['inactive', 'failed'].includes(active))) return false
  await systemd.stop(name)
  await waitFor(
    async () => {
      const state = await systemd.show(name)
      const down = !state.busy && ['inactive', 'failed'].includes(state.active)
      return down ? { found: undefined } : { for: `${name} to end (${state.active}, ${state.sub})` }
    },
    { clock, signal, tell: (what) => emit(what, component) },
  )
  return true
}
