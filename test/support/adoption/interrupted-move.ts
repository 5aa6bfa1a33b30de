import { setTimeout as sleep } from 'node:timers/promises'
import type { Event } from '../../../src/contract/event.ts'
import type { CommandEnd, EventCommand } from '../event-command.ts'
import { formatOp } from '../journal.ts'
import type { AdoptedCluster } from './contender.ts'
import type { InterruptedRun, MoveInterruption } from './move-interruption.ts'

/** Time in which a run must end by itself, in milliseconds. It is longer than the longest wait of a run. */
const runTimeoutMs = 1_200_000
/** How long a host is cut off, in milliseconds. Leases of etcd, nodes and leaders expire in this time. */
const partitionMs = 60_000

export const commandArguments: Readonly<Record<InterruptedRun['command'], readonly string[]>> = {
  up: ['up', '--yes'],
  rollback: ['adopt', 'rollback', '--yes'],
}

/** How an interrupted run ended. */
export interface InterruptedMove {
  /** Event at which the run was interrupted, as text. */
  readonly moment: string
  readonly ended: string
  readonly problems: readonly string[]
}

/** True for events that each run of a command on the same state emits in the same number. */
function isCounted({ body }: Event): boolean {
  return body.type.startsWith('op-') || body.type.startsWith('step-')
}

/** Runs a command without an interruption. Returns the number of its events. */
export async function countEvents(
  cluster: AdoptedCluster,
  command: InterruptedRun['command'],
): Promise<{ readonly events: number; readonly seconds: number }> {
  const started = performance.now()
  const end = await cluster.startWithEvents(() => undefined, ...commandArguments[command]).ended
  if (end.code !== 0) throw new Error(`${command} ended with ${end.code}: ${formatTail(end)}`)
  return { events: end.events.filter(isCounted).length, seconds: (performance.now() - started) / 1000 }
}

/** Runs a command, interrupts it at a point, and waits until both the command and the interruption have ended. */
export async function runInterruptedMove(
  cluster: AdoptedCluster,
  interruption: MoveInterruption,
  eventCount: number,
): Promise<InterruptedMove> {
  const { kind, point, run } = interruption
  // The last events of a run come after its last change.
  const wanted = 1 + Math.floor(point * (eventCount - 2))
  let count = 0
  let moment = ''
  let injected: Promise<void> | undefined
  const command = cluster.startWithEvents(
    (event) => {
      if (injected !== undefined || !isCounted(event)) return
      count += 1
      if (count < wanted) return
      moment = formatMoment(event, wanted, eventCount)
      injected = interrupt(cluster, interruption, command)
      // Prevents an unhandled rejection. The promise is awaited below, after the command has ended.
      injected.catch(() => undefined)
    },
    ...commandArguments[run.command],
  )
  const timeout = new AbortController()
  const end = await Promise.race([
    command.ended,
    sleep(runTimeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined),
  ])
  timeout.abort()
  if (end === undefined) {
    command.kill('SIGKILL')
    const text = formatTail(await command.ended)
    await injected
    return { moment, ended: 'never', problems: [`it hangs: ${text}`] }
  }
  if (injected === undefined)
    return {
      moment,
      ended: formatEnd(end),
      problems: [`event ${wanted} of ${eventCount} was never reported`],
    }
  await injected
  const wasKilled = kind === 'operator-killed'
  return {
    moment,
    ended: formatEnd(end),
    problems: [
      ...(wasKilled && end.code !== 137 ? [`killed, it ended with ${end.code}: ${formatTail(end)}`] : []),
      ...(wasKilled || end.code === 0 || end.code === 3 || hasHint(end)
        ? []
        : [`it ended with ${end.code} and says nothing of what to do: ${formatTail(end)}`]),
    ],
  }
}

async function interrupt(
  { lab, hosts }: AdoptedCluster,
  { kind, host: name }: MoveInterruption,
  command: EventCommand,
): Promise<void> {
  if (kind === 'operator-killed') {
    command.kill('SIGKILL')
    return
  }
  const host = await lab.host(name)
  if (kind === 'host-power-cut') {
    await host.powerCut()
    await lab.start(name)
    return
  }
  // The host reaches neither its peers nor the operator.
  await lab.partition(
    host,
    hosts.filter((one) => one.name !== name),
  )
  await host.setDroppedSources([...(await host.readDroppedSources()), lab.gateway])
  await sleep(partitionMs)
  await lab.rejoin()
}

function formatMoment({ body, host }: Event, number: number, count: number): string {
  const detail = 'op' in body ? ` ${formatOp(body.op)}` : 'step' in body ? ` ${body.step}` : ''
  return `${number} of ${count}: ${body.type}${detail}${host === undefined ? '' : ` on ${host}`}`
}

function findFailure({
  events,
}: CommandEnd): { readonly code: string; readonly hint?: string | undefined } | undefined {
  const last = events.at(-1)?.body
  return last?.type === 'run-ended' && last.result.outcome === 'failed' ? last.result.failure : undefined
}

/** True if the failure says what to do next, in its event or in a finding. */
function hasHint(end: CommandEnd): boolean {
  const findings = end.events.flatMap(({ body }) => (body.type === 'finding' ? [body.finding] : []))
  return (findFailure(end)?.hint ?? '') !== '' || findings.some(({ hint }) => hint !== undefined)
}

function formatEnd(end: CommandEnd): string {
  const names: Readonly<Record<number, string>> = {
    0: 'continued by itself',
    3: 'left a host behind',
    137: 'killed',
  }
  return names[end.code] ?? `${end.code}, ${findFailure(end)?.code ?? 'without a code'}`
}

function formatTail({ events, output }: CommandEnd): string {
  return [...events.slice(-12).map((event) => JSON.stringify(event)), output].join('\n')
}
