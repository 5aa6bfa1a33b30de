import { type Argv, toCommandError, type CommandResult, runProgram } from '../../kit/command.ts'

export interface RunCommandOptions {
  /** Exit codes that count as success; only 0 by default. */
  readonly codes?: readonly number[]
  readonly input?: string
  readonly signal?: AbortSignal
}

/** Runs a program on the host. */
export type RunCommand = (argv: Argv, options?: RunCommandOptions) => Promise<CommandResult>

/**
 * Environment of every program: independent of the caller, and with English output, which the parsers expect.
 */
const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
}

export const runHostCommand: RunCommand = async (argv, { codes = [0], input, signal } = {}) => {
  const result = await runProgram(argv, {
    env: environment,
    allowFailure: true,
    ...(input === undefined ? {} : { input }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (codes.includes(result.code)) return result
  throw toCommandError(argv.join(' '), result)
}
