import { HyperkubeError } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import type { LinuxHost } from '../../host/host.ts'
import { isDown, type UnitState } from '../../host/systemd.ts'
import { isStopped, processState } from './process-state.ts'

/** In milliseconds. */
interface Patience {
  /** Until one that was asked to end is ended. */
  readonly toEnd: number
  /** Until the new one has been started: its supervisor has nothing to wait for. */
  readonly toStart: number
}

/** An API server that says goodbye to its clients takes half a minute; one that is unwell gets no more than that. */
export const usualPatience: Patience = { toEnd: 30_000, toStart: 15_000 }

const every = 200
const lastLines = 5

export interface RestartWish {
  readonly unit: string
  readonly component: string
  /** It is alive and does not answer: it would not hear either that it shall end. */
  readonly isHung: boolean
}

/**
 * Starts a service anew, and waits until its supervisor has done so; whether it is well then is for its probes to say.
 * Answers with what it was before, for people.
 */
export async function restartService(
  host: LinuxHost,
  { unit, component, isHung }: RestartWish,
  signal: AbortSignal,
  patience = usualPatience,
): Promise<readonly string[]> {
  const { systemd, release } = host
  const before = await systemd.show(unit)
  // Whoever looks after us is our supervisor.
  if (before.pid !== 0 && before.pid === release.pid)
    throw failed(unit, component, 'it is what would restart it')
  const was = await processState(host, before.pid)
  const mustKill = before.pid !== 0 && (isHung || (was !== undefined && isStopped(was)))
  const details = [described(before, was)]
  if (before.active === 'failed') await systemd.forget(unit)
  if (mustKill) {
    details.push(`killed its process ${before.pid}`)
    await systemd.killMain(unit)
  }
  await systemd.restart(unit)
  let now = await started(host, unit, before, mustKill ? patience.toStart : patience.toEnd, signal)
  if (isWaitedFor(now, before) && now.pid === before.pid && now.pid !== 0) {
    details.push(`killed its process ${now.pid}, which had not ended after ${patience.toEnd / 1000} s`)
    await systemd.killMain(unit)
    now = await started(host, unit, before, patience.toStart, signal)
  }
  if (!isWaitedFor(now, before) && now.pid !== 0) return [...details, `its process is ${now.pid} now`]
  const lines = (await systemd.lines(unit, lastLines)).map(printable)
  throw failed(unit, component, [...details, `now ${now.active}, ${now.sub}`, ...lines].join('; '))
}

/** Until it has been started, or nobody starts it any more, or the time is over. In milliseconds. */
export async function started(
  { systemd, clock }: LinuxHost,
  unit: string,
  before: UnitState,
  within: number,
  signal: AbortSignal,
): Promise<UnitState> {
  const deadline = clock.now().getTime() + within
  for (;;) {
    const now = await systemd.show(unit)
    const isOver = !isWaitedFor(now, before) && (now.pid !== 0 || isDown(now))
    if (isOver || clock.now().getTime() >= deadline) return now
    await clock.pause(every, signal)
  }
}

/** Whether it is still the start of before. */
function isWaitedFor({ invocation, active, busy }: UnitState, before: UnitState): boolean {
  // A start that a condition of the unit forbids leaves nothing of its own.
  const skipped = isDown({ active, busy }) && isDown(before)
  return invocation === before.invocation && !skipped
}

function described(
  { active, sub, result, status, pid }: UnitState,
  was: Awaited<ReturnType<typeof processState>>,
): string {
  const end = result === '' || result === 'success' ? '' : `, ended with ${result} ${status}`
  const inside = was === undefined || was.waitsIn === '' ? '' : ` in ${was.waitsIn}`
  const process = pid === 0 ? '' : `, process ${pid}${was === undefined ? '' : ` ${was.state}${inside}`}`
  return printable(`it was ${active}, ${sub}${end}${process}`)
}

function failed(unit: string, component: string, how: string): HyperkubeError {
  return new HyperkubeError('SERVICE_FAILED', `${unit} was not started: ${how}`, {
    component,
    hint: `on the host: journalctl -u ${unit} -e`,
  })
}
