import { once } from 'node:events'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { startUiServer } from '../../ui/server.ts'
import { readWebFiles } from '../../ui/web-files.ts'
import { type CommandGroup, exitCodes, isCommandGroup, type LeafCommand } from '../command/command.ts'
import { createViewReader, type ViewCommands } from '../ui/read-view.ts'
import { loadShownClusters } from '../ui/shown-clusters.ts'
import { certsCommand } from './certs.ts'
import { doctorCommand } from './doctor.ts'
import { etcdCommand } from './etcd.ts'
import { fleetCommand } from './fleet.ts'
import { logsCommand } from './logs.ts'
import { runsCommand } from './runs.ts'
import { statusCommand } from './status.ts'

const flags = z.object({ port: z.number().default(0) })

export const uiCommand: LeafCommand = {
  examples: [
    ['hyperkube ui', 'serve on a free port of 127.0.0.1 and print the address to open once'],
    ['hyperkube ui -f fleet.yml', 'show all clusters of a fleet, the worst first'],
    ['hyperkube ui --port 8443', 'use a fixed port, for example for ssh -L'],
  ],
  sharedFlags: ['any-file', 'key'],
  configure(command) {
    command.option('--port <port>', 'listen on this port of 127.0.0.1 (default: a free port)', parsePortFlag)
  },
  async run(context, { options }) {
    const { port } = flags.parse(options)
    const { stdout, stderr, now, signal } = context
    const shown = await loadShownClusters(context, options.file)
    if (shown === undefined) return exitCodes.failure
    const files = await readWebFiles()
    const readView = createViewReader(context, options, shown, buildViewCommands())
    await using server = await startUiServer({ port, files, readView, now })
    stdout.write(`${server.url}\n`)
    stderr.write('open this address in a browser of this machine; it works once, and Ctrl-C ends it\n')
    stderr.write('the interface only reads; to change a cluster, type the commands that it shows\n')
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
