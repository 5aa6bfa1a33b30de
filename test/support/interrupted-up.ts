import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Event } from '../../src/contract/event.ts'
import { runProgram } from '../../src/kit/command.ts'
import type { CommandEnd, EventCommand } from './event-command.ts'
import type { Interruption, InterruptionKind } from './interruption.ts'
import type { Operator } from './operator.ts'
import { createPhaseMatcher, formatPhaseEvent, type PhaseEvent } from './up-phases.ts'

/** Result of a run of `up` that was interrupted. */
export interface InterruptedUp {
  /** Event at which the run was interrupted, as text. */
  readonly moment: string
  /** Text that describes how the run ended. */
  readonly ended: string
  /** Violations of the expected behaviour of an interrupted run. */
  readonly problems: readonly string[]
}

/** Timeout of the interrupted `up` in milliseconds. It is longer than `up` itself waits for hosts. */
const timeoutMs = 420_000

/** Runs `up`, interrupts it at an event, and waits for its end. */
export async function runInterruptedUp(
  operator: Operator,
  lab: Lab,
  interruption: Interruption,
  moment: PhaseEvent,
): Promise<InterruptedUp> {
  const isMatch = createPhaseMatcher(moment)
  let injected: Promise<void> | undefined
  let momentText = ''
  const command = operator.startUp((event) => {
    if (injected !== undefined || !isMatch(event)) return
    momentText = formatPhaseEvent(moment, event)
    injected = interruptCommand(interruption, lab, command)
    // Prevents an unhandled rejection. The promise is awaited below, after the command has ended.
    injected.catch(() => undefined)
  })
  const timeout = new AbortController()
  const end = await Promise.race([
    command.ended,
    sleep(timeoutMs, undefined, { signal: timeout.signal }).then(
      () => undefined,
      () => undefined,
    ),
  ])
  timeout.abort()
  if (end === undefined) {
    command.kill('SIGKILL')
    return { moment: momentText, ended: 'never', problems: [`it hangs: ${formatTail(await command.ended)}`] }
  }
  if (injected === undefined) {
    return {
      moment: '',
      ended: formatEnd(end),
      problems: [`${moment.phase} ${moment.nth} was never reported`],
    }
  }
  await injected
  return { moment: momentText, ended: formatEnd(end), problems: findMisbehaviour(interruption.kind, end) }
}

/** Lists problems in how a run ended and reported its interruption. */
function findMisbehaviour(kind: InterruptionKind, end: CommandEnd): string[] {
  const { code } = end
  const failed = code !== 0 && (findFailure(end)?.hint ?? '') === ''
  switch (kind) {
    case 'cli-killed':
      return code === 137 ? [] : [`killed, it ended with ${code}: ${formatTail(end)}`]
    case 'cli-interrupted':
      return code === 130 && reportsInterruption(end)
        ? []
        : [`interrupted, it ended with ${code}: ${formatTail(end)}`]
    case 'ssh-cut':
      return code === 0 ? [] : [`without its connection it ended with ${code}: ${formatTail(end)}`]
    default:
      return failed && code !== 3
        ? [`it ended with ${code} and says nothing of what to do: ${formatTail(end)}`]
        : []
  }
}

function reportsInterruption({ events }: CommandEnd): boolean {
  const stopping = events.some(({ body }) => body.type === 'stopping' && body.because === 'interrupted')
  const last = events.at(-1)?.body
  return stopping && last?.type === 'run-ended' && last.result.outcome === 'interrupted'
}

type FailedResult = Extract<Event['body'], { type: 'run-ended' }>['result'] & { readonly outcome: 'failed' }

function findFailure({ events }: CommandEnd): FailedResult['failure'] | undefined {
  const last = events.at(-1)?.body
  return last?.type === 'run-ended' && last.result.outcome === 'failed' ? last.result.failure : undefined
}

function formatEnd(end: CommandEnd): string {
  const names: Readonly<Record<number, string>> = {
    0: 'continued by itself',
    3: 'left a host behind',
    130: 'stopped, operator lock released',
    137: 'killed',
  }
  return names[end.code] ?? `${end.code}, ${findFailure(end)?.code ?? 'without a word'}`
}

function formatTail({ events, output }: CommandEnd): string {
  return [...events.slice(-12).map((event) => JSON.stringify(event)), output].join('\n')
}

/** Interrupts a command. A host whose power was cut is started again at once. */
async function interruptCommand(
  { kind, host: name }: Interruption,
  lab: Lab,
  command: Pick<EventCommand, 'pid' | 'kill'>,
): Promise<void> {
  const host = await lab.host(name)
  switch (kind) {
    case 'cli-killed':
      return command.kill('SIGKILL')
    case 'cli-interrupted':
      return command.kill('SIGINT')
    case 'ssh-cut':
      return cutSsh(host, command.pid)
    case 'agent-killed':
      await host.script('kill -KILL "$(systemctl show --property=MainPID --value hyperkube-agent)"')
      return
    case 'host-crash':
      await host.crash()
      break
    default:
      await host.powerCut()
  }
  await lab.start(name)
}

/** Kills only those sshd sessions on a host that serve connections of the local process `pid`. */
async function cutSsh(host: Host, pid: number): Promise<void> {
  const { stdout } = await runProgram(['ss', '-Htnp', 'state', 'established', 'dst', `${host.address}:22`])
  const ports = stdout
    .split('\n')
    .filter((line) => line.includes(`pid=${pid},`))
    .flatMap((line) => /:(\d+)\s+\S+:22\s/.exec(line)?.[1] ?? [])
  if (ports.length === 0) throw new Error(`process ${pid} has no connection to ${host.name}`)
  const sessions = ports.map((port) => `ss -Htnp state established sport = :22 and dport = :${port}`)
  await host.script(
    `kill -KILL $({ ${sessions.join('; ')}; } | grep -o 'pid=[0-9]*' | cut -d= -f2 | sort -u)`,
  )
}
