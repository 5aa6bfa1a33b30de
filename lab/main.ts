import { Command } from 'commander'
import { formatError, HyperkubeError } from '../src/kit/errors.ts'
import { benchCommand } from './commands/bench.ts'
import { clusterCommand } from './commands/cluster.ts'
import { crashCommand } from './commands/crash.ts'
import { crdsCommand } from './commands/crds.ts'
import { downCommand } from './commands/down.ts'
import { componentsCommand } from './commands/components.ts'
import { fillDiskCommand } from './commands/fill-disk.ts'
import { flagsCommand } from './commands/flags.ts'
import { kubectlCommand } from './commands/kubectl.ts'
import { mirrorCommand } from './commands/mirror.ts'
import { partitionCommand } from './commands/partition.ts'
import { pinCommand } from './commands/pin.ts'
import { powerCutCommand } from './commands/power-cut.ts'
import { rejoinCommand } from './commands/rejoin.ts'
import { rke1Command } from './commands/rke1.ts'
import { setupCommand } from './commands/setup.ts'
import { slowDiskCommand } from './commands/slow-disk.ts'
import { sshCommand } from './commands/ssh.ts'
import { startCommand } from './commands/start.ts'
import { statusCommand } from './commands/status.ts'
import { upCommand } from './commands/up.ts'
import { wineCommand } from './commands/wine.ts'
import { requireBuildTools, requireHostTools } from './prerequisites.ts'

const lab = new Command('lab')
  .description('upstream components built from source, and hosts to run them on')
  .option('--lab <name>', 'which lab', process.env['HYPERKUBE_LAB'] ?? 'lab')
  .enablePositionalOptions()

const componentCommands = [componentsCommand, pinCommand, flagsCommand, crdsCommand]
const clusterCommands = [mirrorCommand, clusterCommand, rke1Command, kubectlCommand, benchCommand]
const hostCommands = [
  upCommand,
  downCommand,
  statusCommand,
  sshCommand,
  startCommand,
  crashCommand,
  powerCutCommand,
  partitionCommand,
  rejoinCommand,
  slowDiskCommand,
  fillDiskCommand,
]

/** Adds commands that check the prerequisites in `needs` before they run. */
function addCommands(
  commands: readonly ((parent: Command) => void)[],
  ...needs: (() => Promise<void>)[]
): void {
  const before = lab.commands.length
  for (const command of commands) command(lab)
  for (const command of lab.commands.slice(before)) {
    command.hook('preAction', async () => {
      for (const need of needs) await need()
    })
  }
}

addCommands([setupCommand, wineCommand])
addCommands(componentCommands, requireBuildTools)
addCommands(clusterCommands, requireHostTools, requireBuildTools)
addCommands(hostCommands, requireHostTools)

try {
  await lab.parseAsync()
} catch (error) {
  const { code, hint } = error instanceof HyperkubeError ? error : { code: 'UNEXPECTED', hint: undefined }
  process.stderr.write(`${code}: ${formatError(error)}\n${hint === undefined ? '' : `  → ${hint}\n`}`)
  if (!(error instanceof HyperkubeError) && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  process.exitCode = code === 'INTERRUPTED' ? 130 : 1
}
