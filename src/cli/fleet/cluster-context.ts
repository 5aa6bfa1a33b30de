import type { Event } from '../../contract/event.ts'
import type { FleetCluster } from '../../workspace/fleet-clusters.ts'
import type { CommandContext, Invocation, Output } from '../command/command.ts'
import type { RolloutFlags } from './fleet-flags.ts'

/** Output of one cluster that is kept for its failure message, in characters. */
const maxOutput = 20_000

/** Context of a command for one cluster of a fleet. It writes nothing to the terminal, and never prompts. */
export interface ClusterCommandContext {
  readonly context: CommandContext
  /** Returns the end of what the command printed. */
  readonly readOutput: () => string
}

export function createClusterContext(
  context: CommandContext,
  { file }: Pick<FleetCluster, 'file'>,
  command: string,
  { signal, onEvent }: { readonly signal: AbortSignal; readonly onEvent: (event: Event) => void },
): ClusterCommandContext {
  let text = ''
  const output: Output = {
    write: (part) => (text = (text + part).slice(-maxOutput)),
  }
  return {
    context: {
      ...context,
      stdout: output,
      stderr: output,
      paint: (_colour, plain) => plain,
      paintProgress: (_colour, plain) => plain,
      screen: undefined,
      resultScreen: undefined,
      openPrompts: undefined,
      typedCommand: `${command} -f ${file}`,
      signal,
      commandLogs: {
        ...context.commandLogs,
        open(cluster, name, now) {
          const log = context.commandLogs.open(cluster, name, now)
          return {
            ...log,
            onEvent(event) {
              log.onEvent(event)
              onEvent(event)
            },
          }
        },
      },
    },
    readOutput: () => text,
  }
}

/** Builds the options of a command for one cluster. The operator has confirmed the changes of the whole fleet. */
export function buildClusterOptions(
  { file }: Pick<FleetCluster, 'file'>,
  flags: Partial<Pick<RolloutFlags, 'ignore' | 'acceptNewHostKeys' | 'dryRun'>> & {
    readonly timeout?: number
  } = {},
): Invocation['options'] {
  const { ignore = [], acceptNewHostKeys = false, dryRun = false, timeout } = flags
  return {
    file,
    output: 'table',
    input: false,
    yes: true,
    quiet: true,
    progress: 'plain',
    ignore,
    acceptNewHostKeys,
    dryRun,
    ...(timeout === undefined ? {} : { timeout }),
  }
}
