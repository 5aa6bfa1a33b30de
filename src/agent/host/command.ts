import { type Argv, commandFailed, type CommandResult, run } from '../../kit/command.ts'

export interface CommandWish {
  /** Those that are no failure; 0 alone unless said otherwise. */
  readonly codes?: readonly number[]
  readonly input?: string
  readonly signal?: AbortSignal
}

/** Runs one of the host's own programs. */
export type Command = (argv: Argv, wish?: CommandWish) => Promise<CommandResult>

/** The same wherever we were started from, and in the words that we read. */
const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
}

export const hostCommand: Command = async (argv, { codes = [0], input, signal } = {}) => {
  const result = await run(argv, {
    env: environment,
    allowFailure: true,
    ...(input === undefined ? {} : { input }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (codes.includes(result.code)) return result
  throw commandFailed(argv.join(' '), result)
}
