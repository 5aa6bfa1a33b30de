import { randomUUID } from 'node:crypto'
import { Argument } from 'commander'
import { stringify } from 'yaml'
import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { startIdleGc } from '../../kit/idle-gc.ts'
import { monotonicClock } from '../../kit/monotonic-clock.ts'
import { toPrintable } from '../../kit/text.ts'
import { buildManagerConfig, CompletedConfig, managerOptions } from '../../manager/config.ts'
import type { ControllerDefinition } from '../../manager/controller.ts'
import { buildManagerRbac, formatRule } from '../../manager/rbac.ts'
import { runManager } from '../../manager/run-manager.ts'
import { controllers } from '../../manager/table.ts'
import {
  type CommandContext,
  type LeafCommand,
  type ExitCode,
  exitCodes,
  type Invocation,
  type Paint,
} from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { formatTable } from '../command/table.ts'

const actions = ['run', 'list', 'rbac'] as const

export const controllerManagerCommand: LeafCommand = {
  examples: [
    [
      'hyperkube controller-manager --kubeconfig /etc/hyperkube/hyperkube-controller-manager/kubeconfig',
      'run the controllers; used by the service on control planes, with leader election',
    ],
    ['hyperkube controller-manager list', 'list controllers and their state; -o wide adds permissions'],
    ['hyperkube controller-manager rbac', 'print the RBAC objects of all enabled controllers'],
    ['curl http://127.0.0.1:6447/readyz?verbose', 'check the readiness of the controller manager'],
  ],
  sharedFlags: ['output'],
  configure(command) {
    command
      .addArgument(new Argument('[act]', 'action to run').choices(actions).default('run'))
      .option('--kubeconfig <file>', 'run: connect to the API with this kubeconfig')
      .option('--controllers <names>', 'enable these controllers; *,-foo enables all but foo (default: "*")')
      .option('--settings <file>', 'read controller settings of cluster.yml from this file')
      .option('--listen <address>', 'serve health and metrics on this address (default: "127.0.0.1:6447")')
      .option(
        '--leader-elect-lease-duration <time>',
        'let a lease expire after this duration without renewal (default: "15s")',
      )
      .option(
        '--leader-elect-renew-deadline <time>',
        'stop leading after this duration without renewal (default: "10s")',
      )
      .option('--leader-elect-retry-period <time>', 'wait this long between lease attempts (default: "2s")')
  },
  async run(context, { args, options }) {
    const action = z.enum(actions).default('run').parse(args[0])
    // `list` and `rbac` need no API access, so the flags for API access are optional.
    const config = buildManagerConfig(parseManagerOptions(options, action !== 'run'), controllers)
    if (action === 'run') return runService(context, config)
    const document =
      action === 'list'
        ? buildControllerList(controllers, config.controllers)
        : buildRbacDocument(config.controllers)
    printResult(context.stdout, options.output, document, () =>
      action === 'list'
        ? formatControllers(controllers, config.controllers, context.paint, options.output === 'wide')
        : stringify(document),
    )
    return exitCodes.ok
  },
}

function parseManagerOptions(options: Invocation['options'], isReadOnly: boolean) {
  const parsed = managerOptions.safeParse(isReadOnly ? { kubeconfig: '-', ...options } : options)
  if (parsed.success) return parsed.data
  const [first] = parsed.error.issues
  const flag = String(first?.path[0]).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new HyperkubeError('MANAGER_OPTIONS', `--${flag}: ${first?.message ?? ''}`, {
    hint: 'hyperkube controller-manager --help',
  })
}

function buildRbacDocument(chosen: Parameters<typeof buildManagerRbac>[0]): object {
  return { apiVersion: 'v1', kind: 'List', items: buildManagerRbac(chosen) }
}

async function runService(
  context: CommandContext,
  config: ReturnType<typeof buildManagerConfig>,
): Promise<ExitCode> {
  const { stderr, readFile, operator, now, signal } = context
  const completed = await CompletedConfig.complete(config, {
    readFile,
    machine: operator.machine,
    uuid: randomUUID,
  })
  // The service manager stops a service with SIGTERM.
  const stop = new AbortController()
  const onSigterm = (): void => stop.abort()
  const stopIdleGc = startIdleGc()
  process.once('SIGTERM', onSigterm)
  const log = (line: string): void => void stderr.write(`${toPrintable(line)}\n`)
  const deps = { time: monotonicClock, now, random: Math.random, log }
  const stopSignal = AbortSignal.any([signal, stop.signal])
  try {
    const result = await runManager(completed, deps, stopSignal)
    if (result === 'stopped') return exitCodes.ok
    // Leadership is lost, and another instance may lead. The process exits at once to stop pending work.
    // After its restart it has a new lease holder name.
    return process.exit(exitCodes.failure)
  } finally {
    process.off('SIGTERM', onSigterm)
    stopIdleGc()
  }
}

/** Builds the list of controllers as a versioned document. */
function buildControllerList(
  rows: readonly ControllerDefinition[],
  chosen: readonly ControllerDefinition[],
): object {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ControllerList',
    controllers: rows.map((row) => ({
      name: row.name,
      aliases: row.aliases,
      summary: row.summary,
      byDefault: row.byDefault,
      on: chosen.includes(row),
      watches: row.watches.map(({ name }) => name),
      rules: row.rules,
    })),
  }
}

/** Formats the list of controllers as a table. `wide` adds the watched objects and RBAC rules. */
function formatControllers(
  rows: readonly ControllerDefinition[],
  chosen: readonly ControllerDefinition[],
  paint: Paint,
  wide: boolean,
): string {
  const summary = { head: 'DESCRIPTION', cell: (row: ControllerDefinition) => ({ text: row.summary }) }
  const columns = [
    { head: 'CONTROLLER', cell: ({ name }: ControllerDefinition) => ({ text: name }) },
    { head: 'ON', cell: (row: ControllerDefinition) => ({ text: chosen.includes(row) ? 'yes' : 'no' }) },
    { head: 'DEFAULT', cell: ({ byDefault }: ControllerDefinition) => ({ text: byDefault ? 'on' : 'off' }) },
  ]
  const wideColumns = [
    {
      head: 'WATCHES',
      cell: ({ watches }: ControllerDefinition) => ({ text: watches.map(({ name }) => name).join(', ') }),
    },
    summary,
    // This column is the last one, because it may be long.
    {
      head: 'PERMISSIONS',
      cell: ({ rules }: ControllerDefinition) => ({ text: rules.map(formatRule).join('; ') }),
    },
  ]
  return formatTable([...columns, ...(wide ? wideColumns : [summary])], rows, paint)
}
