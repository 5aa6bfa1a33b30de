import { z } from 'zod'
import { runProgram } from '../../kit/command.ts'

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
 * Notifications are sent with systemd-notify, because Node cannot write to a Unix datagram socket.
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
