import { once } from 'node:events'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { startUiServer } from '../../ui/server.ts'
import { readWebFiles } from '../../ui/web-files.ts'
import { type CommandGroup, exitCodes, isCommandGroup, type LeafCommand } from '../command/command.ts'
import type { PlanApplication } from '../../ui/views.ts'
import { PlanApplier } from '../ui/plan-applier.ts'
import { createViewReader, findClusterFiles, type ViewCommands } from '../ui/read-view.ts'
import { loadShownClusters } from '../ui/shown-clusters.ts'
import { certsCommand } from './certs.ts'
import { doctorCommand } from './doctor.ts'
import { etcdCommand } from './etcd.ts'
import { fleetCommand } from './fleet.ts'
import { logsCommand } from './logs.ts'
import { runsCommand } from './runs.ts'
import { statusCommand } from './status.ts'
import { upCommand } from './up.ts'

const flags = z.object({ port: z.number().default(0), allowChanges: z.boolean().default(false) })

export const uiCommand: LeafCommand = {
  examples: [
    ['hyperkube ui', 'serve on a free port of 127.0.0.1 and print the address to open once'],
    ['hyperkube ui -f fleet.yml', 'show all clusters of a fleet, the worst first'],
    ['hyperkube ui --port 8443', 'use a fixed port, for example for ssh -L'],
    ['hyperkube ui --allow-changes', 'let the browser apply a plan, after the cluster name was typed'],
  ],
  sharedFlags: ['any-file', 'key'],
  configure(command) {
    command
      .option('--port <port>', 'listen on this port of 127.0.0.1 (default: a free port)', parsePortFlag)
      .option('--allow-changes', 'let the browser apply the plan that it shows (default: only read)')
  },
  async run(context, { options }) {
    const { port, allowChanges } = flags.parse(options)
    const { stdout, stderr, now, signal } = context
    const shown = await loadShownClusters(context, options.file)
    if (shown === undefined) return exitCodes.failure
    const files = await readWebFiles()
    await using applier = allowChanges ? new PlanApplier(context, upCommand) : undefined
    const readView = createViewReader(context, options, shown, buildViewCommands(), applier)
    const applyPlan =
      applier === undefined
        ? undefined
        : async ({ cluster, digest }: PlanApplication) =>
            applier.apply(cluster, findClusterFiles(options, shown, cluster), digest)
    await using server = await startUiServer({ port, files, readView, applyPlan, now })
    stdout.write(`${server.url}\n`)
    stderr.write('open this address in a browser of this machine; it works once, and Ctrl-C ends it\n')
    stderr.write(
      allowChanges
        ? 'the browser can apply plans; Ctrl-C also stops a running change at a safe point\n'
        : 'the interface only reads; to change a cluster, type the commands that it shows\n',
    )
    if (!signal.aborted) await once(signal, 'abort')
    signal.throwIfAborted()
    return exitCodes.ok
  },
}

function buildViewCommands(): ViewCommands {
  return {
    fleet: findLeaf(fleetCommand, 'status'),
    status: statusCommand,
    doctor: doctorCommand,
    etcd: findLeaf(etcdCommand, 'status'),
    certificates: findLeaf(certsCommand, 'list'),
    runs: findLeaf(runsCommand, 'list'),
    run: findLeaf(runsCommand, 'show'),
    logs: logsCommand,
  }
}

function findLeaf({ subcommands }: CommandGroup, name: string): LeafCommand {
  const definition = subcommands.find((one) => one.name === name)?.definition
  if (definition === undefined || isCommandGroup(definition)) throw new Error(`no command ${name}`)
  return definition
}

function parsePortFlag(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('expected a port from 0 to 65535')
}
