import { setTimeout as sleep } from 'node:timers/promises'
import { Readable } from 'node:stream'
import { requestFormat, responseFormat } from '../../contract/request.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { describe } from '../../kit/errors.ts'
import { bridge } from './bridge.ts'
import type { Supervisor } from './supervisor.ts'

export interface HeartbeatOptions {
  readonly supervisor: Supervisor
  /** Fails unless the agent answers what anybody may ask it, by the way that they take. */
  readonly ask: (signal: AbortSignal) => Promise<void>
  readonly complain: (text: string) => void
  readonly signal: AbortSignal
}

/** One that is lost, and one that is late, do not end an agent that is well. */
const perPatience = 3

/** By then systemd has taken a message, however busy the host. */
const atStart = 30_000

/**
 * Says that the agent is there, and gives signs of life as long as it answers itself: one that hangs is started anew.
 * Until it shall end.
 */
export async function heartbeat({ supervisor, ask, complain, signal }: HeartbeatOptions): Promise<void> {
  await supervisor.tell('READY=1', AbortSignal.timeout(atStart))
  if (supervisor.patience === undefined) return
  const every = Math.floor(supervisor.patience / perPatience)
  while (!signal.aborted) {
    const deadline = AbortSignal.timeout(every)
    try {
      await ask(deadline)
      await supervisor.tell('WATCHDOG=1', deadline)
    } catch (error) {
      complain(`it does not answer itself: ${describe(error)}`)
    }
    await sleep(every, undefined, { signal }).catch(() => undefined)
  }
}

/** Says hello to the agent that listens at a path. */
export async function askHello(path: string, signal: AbortSignal): Promise<void> {
  const hello = requestFormat.newest.schema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AgentRequest',
    ask: { type: 'hello' },
  })
  const answers: string[] = []
  await bridge({
    path,
    requests: Readable.from([`${JSON.stringify(hello)}\n`]),
    answer: (line) => void answers.push(line),
    signal,
  })
  const { answer } = readVersioned(responseFormat, JSON.parse(answers.join('')))
  if (answer.type !== 'hello') throw new Error(`the answer was ${answer.type}`)
}
