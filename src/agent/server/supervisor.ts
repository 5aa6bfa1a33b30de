import { z } from 'zod'
import { run } from '../../kit/command.ts'

/** Who started the agent and starts it again when nothing is heard of it. */
export interface Supervisor {
  /** How long it waits for a sign of life, in milliseconds; nothing when it does not wait. */
  readonly patience: number | undefined
  tell(state: 'READY=1' | 'WATCHDOG=1', signal: AbortSignal): Promise<void>
}

/** What systemd gives a service of which it wants to hear. */
const environment = z.object({
  NOTIFY_SOCKET: z.string().min(1),
  /** In microseconds. */
  WATCHDOG_USEC: z.coerce.number().positive().optional(),
})

/** Nothing for an agent that a person started. Node does not speak with such a socket, so systemd's own program does. */
export function systemdSupervisor(env: Readonly<Record<string, string | undefined>>): Supervisor | undefined {
  const { success, data } = environment.safeParse(env)
  if (!success) return undefined
  const { NOTIFY_SOCKET, WATCHDOG_USEC } = data
  return {
    patience: WATCHDOG_USEC && WATCHDOG_USEC / 1000,
    async tell(state, signal) {
      await run(['systemd-notify', state], { env: { PATH: env['PATH'], NOTIFY_SOCKET }, signal })
    },
  }
}
