import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { maxHealPauseMs } from '../../contract/health.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { parseDuration } from '../../kit/time-format.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { CommandContext, ExitCode, Invocation } from '../command/command.ts'
import { formatHostError } from '../command/print.ts'

/** Inputs of an action of `hyperkube heal`. */
export interface HealCommandContext {
  readonly context: CommandContext
  readonly options: Invocation['options']
  readonly flags: z.infer<typeof healFlags>
  readonly cluster: string
  /** Names of the hosts on which the command acts. */
  readonly hosts: readonly string[]
  readonly connect: (host: string) => Promise<Remote>
}

export type HealCommand = (commandContext: HealCommandContext) => Promise<ExitCode>

export const healFlags = z.object({
  for: z.int().optional(),
  /** Undefined if the subcommand has no flag --all. */
  all: z.boolean().optional(),
  dryRun: z.boolean().default(false),
})

/** Minimum pause of healing. A shorter pause would end before the operator could begin any maintenance. */
const minPauseMs = 60_000

/** Parses the value of --for into milliseconds. */
export function parsePauseFlag(text: string): number {
  const time = parseDuration(text)
  if (time === undefined) throw new InvalidArgumentError('expected a duration such as 30m or 1h')
  if (time < minPauseMs || time > maxHealPauseMs) {
    throw new InvalidArgumentError('expected a duration from 1m to 24h')
  }
  return time
}

/** The response of a host, or the reason why it did not respond. */
export type HostReply<T> =
  | { readonly host: string; readonly response: T }
  | { readonly host: string; readonly reason: string }

/** Sends a request to all hosts at once. An unreachable host does not affect the other hosts. */
export async function requestFromHosts<T>(
  { hosts, connect, context: { signal } }: HealCommandContext,
  request: (remote: Remote, signal: AbortSignal) => Promise<T>,
): Promise<HostReply<T>[]> {
  return settleAll(
    hosts.map(async (host): Promise<HostReply<T>> => {
      try {
        return { host, response: await request(await connect(host), signal) }
      } catch (error) {
        signal.throwIfAborted()
        return { host, reason: formatHostError(host, error) }
      }
    }),
  )
}
