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
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Number of notifications per watchdog timeout. One lost and one late notification must not end a healthy
 * agent.
 */
const beatsPerTimeout = 3

/** Timeout of the first notification, long enough for systemd on a busy host. */
const startTimeoutMs = 30_000

/**
 * Notifies the supervisor that the agent is ready, and then regularly as long as the agent responds on its
 * own socket. The supervisor restarts an agent that hangs. Runs until the signal aborts.
 */
export async function runHeartbeat({ supervisor, checkAgent, log, signal }: HeartbeatOptions): Promise<void> {
  await supervisor.notify('READY=1', AbortSignal.timeout(startTimeoutMs))
  if (supervisor.watchdogTimeoutMs === undefined) return
  const intervalMs = Math.floor(supervisor.watchdogTimeoutMs / beatsPerTimeout)
  while (!signal.aborted) {
    const deadline = AbortSignal.timeout(intervalMs)
    try {
      await checkAgent(deadline)
      await supervisor.notify('WATCHDOG=1', deadline)
    } catch (error) {
      log(`the agent does not respond to its own check: ${formatError(error)}`)
    }
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined)
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
  notify(state: 'READY=1' | 'WATCHDOG=1', signal: AbortSignal): Promise<void>
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
    async notify(state, signal) {
      await runProgram(['systemd-notify', state], { env: { PATH: env['PATH'], NOTIFY_SOCKET }, signal })
    },
  }
}
