import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { requestFormat, responseFormat } from '../../contract/request.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { runProgram } from '../../kit/command.ts'
import { formatError } from '../../kit/errors.ts'
import { bridgeToAgent } from './bridge.ts'

export interface HeartbeatOptions {
  readonly supervisor: Supervisor
  /** Rejects if the agent does not respond to a request over its own socket. */
  readonly checkAgent: (signal: AbortSignal) => Promise<void>
  /** True while the agent executes a run, which a restart would interrupt. */
  readonly isBusy: () => boolean
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Number of notifications per watchdog timeout. One lost and one late notification must not end a healthy
 * agent.
 */
const beatsPerTimeout = 3

/**
 * Number of watchdog timeouts after which the supervisor restarts an agent that executes a run, or an agent
 * whose socket does not respond. Both kinds of agents may only be slow, for example on a swapping or
 * overloaded host.
 */
const extendedTimeouts = 5

/** Timeout of the first notification, long enough for systemd on a busy host. */
const startTimeoutMs = 30_000

/**
 * Notifies the supervisor that the agent is ready, and then regularly as long as the agent lives. The
 * supervisor restarts an agent that is stopped or hangs. Runs until the signal aborts.
 */
export async function runHeartbeat(options: HeartbeatOptions): Promise<void> {
  const { supervisor, checkAgent, isBusy, log, signal } = options
  const { watchdogTimeoutMs } = supervisor
  await supervisor.notify(['READY=1'], AbortSignal.timeout(startTimeoutMs))
  if (watchdogTimeoutMs === undefined) return
  const intervalMs = Math.floor(watchdogTimeoutMs / beatsPerTimeout)
  let failures = 0
  const check = async (): Promise<void> => {
    try {
      await checkAgent(AbortSignal.timeout(intervalMs))
      failures = 0
    } catch (error) {
      failures++
      log(`the agent does not respond to its own check: ${formatError(error)}`)
    }
  }
  const notify = async (): Promise<void> => {
    // After this many failed checks the agent sends no more notifications. The last notification is valid for
    // one more timeout, so the restart comes after `extendedTimeouts` timeouts.
    if (failures >= beatsPerTimeout * (extendedTimeouts - 1)) return
    const timeoutMs = watchdogTimeoutMs * (isBusy() ? extendedTimeouts : 1)
    await supervisor
      .notify(['WATCHDOG=1', `WATCHDOG_USEC=${timeoutMs * 1000}`], AbortSignal.timeout(watchdogTimeoutMs))
      .catch((error: unknown) => log(`systemd got no notification: ${formatError(error)}`))
  }
  while (!signal.aborted) {
    // A slow check must not delay notifications. They only show that the process itself responds in time.
    const pause = sleep(intervalMs, undefined, { signal }).catch(() => undefined)
    await Promise.all([check(), notify(), pause])
  }
}

/** Sends a hello request to the agent that listens at a path. */
export async function requestHello(path: string, signal: AbortSignal): Promise<void> {
  const hello = requestFormat.newest.schema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AgentRequest',
    body: { type: 'hello' },
  })
  const responses: string[] = []
  await bridgeToAgent({
    path,
    requests: Readable.from([`${JSON.stringify(hello)}\n`]),
    onResponse: (line) => void responses.push(line),
    signal,
  })
  const { body } = readVersioned(responseFormat, JSON.parse(responses.join('')))
  if (body.type !== 'hello') throw new Error(`unexpected response ${body.type}`)
}

/** The service manager that started the agent. It restarts the agent if notifications stop. */
export interface Supervisor {
  /** Watchdog timeout in milliseconds; undefined if there is no watchdog. */
  readonly watchdogTimeoutMs: number | undefined
  /** Sends variables of sd_notify. `WATCHDOG_USEC` replaces the watchdog timeout until the next start. */
  notify(variables: readonly string[], signal: AbortSignal): Promise<void>
}

/** Environment that systemd sets for a service of type notify. */
const environment = z.object({
  NOTIFY_SOCKET: z.string().min(1),
  /** Watchdog timeout in microseconds. */
  WATCHDOG_USEC: z.coerce.number().positive().optional(),
})

/**
 * Returns the supervisor of an agent that systemd started; undefined for an agent that a person started.
 * Notifications are sent with systemd-notify, because Node.js cannot write to a Unix datagram socket.
 */
export function systemdSupervisor(env: Readonly<Record<string, string | undefined>>): Supervisor | undefined {
  const { success, data } = environment.safeParse(env)
  if (!success) return undefined
  const { NOTIFY_SOCKET, WATCHDOG_USEC } = data
  return {
    watchdogTimeoutMs: WATCHDOG_USEC && WATCHDOG_USEC / 1000,
    async notify(variables, signal) {
      await runProgram(['systemd-notify', ...variables], {
        env: { PATH: env['PATH'], NOTIFY_SOCKET },
        signal,
      })
    },
  }
}
