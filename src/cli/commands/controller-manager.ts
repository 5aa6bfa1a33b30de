import { randomUUID } from 'node:crypto'
import { Argument } from 'commander'
import { stringify } from 'yaml'
import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { giveBackMemory } from '../../kit/idle-gc.ts'
import { realTime } from '../../kit/monotonic-clock.ts'
import { CompletedConfig } from '../../manager/completed-config.ts'
import { configOf, managerOptions } from '../../manager/config.ts'
import { managerObjects } from '../../manager/rbac.ts'
import { runManager } from '../../manager/run-manager.ts'
import { controllers } from '../../manager/table.ts'
import {
  type CommandDefinition,
  type Context,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command.ts'
import { controllersText, tableDocument } from '../controller-manager/format-controllers.ts'
import { print } from '../print.ts'

const acts = ['run', 'list', 'rights'] as const

export const controllerManager: CommandDefinition = {
  examples: [
    [
      'hyperkube controller-manager --kubeconfig /etc/hyperkube/hyperkube-controller-manager/kubeconfig',
      'as its service does, on control planes; one of them leads',
    ],
    [
      'hyperkube controller-manager list',
      'which controllers there are, and which are on; -o wide: what each may do',
    ],
    ['hyperkube controller-manager rights', 'what each of them may do, as RBAC objects'],
    ['curl http://127.0.0.1:6447/readyz?verbose', 'how it is'],
  ],
  configure(command) {
    command
      .addArgument(new Argument('[act]', 'what to do').choices(acts).default('run'))
      .option('--kubeconfig <file>', 'where the API is, and as whom to speak')
      .option('--controllers <names>', 'which are on: *,-foo is all but foo (default: "*")')
      .option('--settings <file>', 'what was wished in cluster.yml, for those who need it')
      .option('--listen <address>', 'where health and metrics are told (default: "127.0.0.1:6447")')
      .option(
        '--leader-elect-lease-duration <time>',
        'how long others wait for a silent leader (default: "15s")',
      )
      .option('--leader-elect-renew-deadline <time>', 'how long a leader acts unrenewed (default: "10s")')
      .option('--leader-elect-retry-period <time>', 'how long between two tries (default: "2s")')
  },
  async run(context, { args, options }) {
    const act = z.enum(acts).default('run').parse(args[0])
    // Who only wants to read needs no way to the API.
    const config = configOf(optionsOf(options, act !== 'run'), controllers)
    if (act === 'run') return serve(context, config)
    const document =
      act === 'list' ? tableDocument(controllers, config.chosen) : rightsDocument(config.chosen)
    print(context.stdout, options.output, document, () =>
      act === 'list'
        ? controllersText(controllers, config.chosen, context.paint, options.output === 'wide')
        : stringify(document),
    )
    return exitCodes.ok
  },
}

function optionsOf(options: Invocation['options'], reading: boolean) {
  const read = managerOptions.safeParse(reading ? { kubeconfig: '-', ...options } : options)
  if (read.success) return read.data
  const [first] = read.error.issues
  const flag = String(first?.path[0]).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new HyperkubeError('MANAGER_OPTIONS', `--${flag}: ${first?.message ?? ''}`, {
    hint: 'hyperkube controller-manager --help',
  })
}

function rightsDocument(chosen: Parameters<typeof managerObjects>[0]): object {
  return { apiVersion: 'v1', kind: 'List', items: managerObjects(chosen) }
}

async function serve(context: Context, config: ReturnType<typeof configOf>): Promise<ExitCode> {
  const { stderr, readFile, operator, now, signal } = context
  const completed = await CompletedConfig.complete(config, {
    readFile,
    machine: operator.machine,
    uuid: randomUUID,
  })
  // A service is stopped by this one.
  const stop = new AbortController()
  const stopped = (): void => stop.abort()
  const cease = giveBackMemory()
  process.once('SIGTERM', stopped)
  const log = (line: string): void => void stderr.write(`${printable(line)}\n`)
  const world = { time: realTime, now, random: Math.random, log }
  const either = AbortSignal.any([signal, stop.signal])
  try {
    const ending = await runManager(completed, world, either)
    if (ending === 'stopped') return exitCodes.ok
    // Others may lead by now: whatever is still under way here must not go on, and who comes back is somebody else.
    return process.exit(exitCodes.failure)
  } finally {
    process.off('SIGTERM', stopped)
    cease()
  }
}
