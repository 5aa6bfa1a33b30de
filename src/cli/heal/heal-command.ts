import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { longestPause } from '../../contract/health.ts'
import { parseDuration } from '../../kit/duration.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { Context, ExitCode, Invocation } from '../command.ts'
import { reasonOf } from '../format-host-error.ts'

/** All that an action of `hyperkube heal` needs. */
export interface HealScene {
  readonly context: Context
  readonly options: Invocation['options']
  readonly flags: z.infer<typeof healFlags>
  readonly cluster: string
  /** Those that it is about. */
  readonly hosts: readonly string[]
  readonly remoteOf: (host: string) => Promise<Remote>
}

export type HealCommand = (scene: HealScene) => Promise<ExitCode>

export const healFlags = z.object({
  for: z.int().optional(),
  all: z.boolean().default(false),
  dryRun: z.boolean().default(false),
})

/** Less is over before anybody has begun. */
const shortest = 60_000

/** What stands after --for, in milliseconds. */
export function pauseFlag(text: string): number {
  const time = parseDuration(text)
  if (time === undefined) throw new InvalidArgumentError('write it as 30m or 1h')
  if (time < shortest || time > longestPause) {
    throw new InvalidArgumentError('a minute is the least, and a day the most')
  }
  return time
}

/** What a host said, or why it said nothing. */
export type Heard<T> =
  | { readonly host: string; readonly said: T }
  | { readonly host: string; readonly reason: string }

/** Asks all hosts at once. One that does not answer stops nobody. */
export async function hear<T>(
  { hosts, remoteOf, context: { signal } }: Pick<HealScene, 'hosts' | 'remoteOf' | 'context'>,
  ask: (remote: Remote, signal: AbortSignal) => Promise<T>,
): Promise<Heard<T>[]> {
  return settleAll(
    hosts.map(async (host): Promise<Heard<T>> => {
      try {
        return { host, said: await ask(await remoteOf(host), signal) }
      } catch (error) {
        signal.throwIfAborted()
        return { host, reason: reasonOf(host, error) }
      }
    }),
  )
}
