import { Command } from 'commander'
import { describe, HyperkubeError } from '../src/kit/errors.ts'
import { benchCommand } from './commands/bench.ts'
import { clusterCommand } from './commands/cluster.ts'
import { crashCommand } from './commands/crash.ts'
import { downCommand } from './commands/down.ts'
import { engineCommand } from './commands/engine.ts'
import { fillDiskCommand } from './commands/fill-disk.ts'
import { kubectlCommand } from './commands/kubectl.ts'
import { mirrorCommand } from './commands/mirror.ts'
import { partitionCommand } from './commands/partition.ts'
import { pinCommand } from './commands/pin.ts'
import { powerCutCommand } from './commands/power-cut.ts'
import { rejoinCommand } from './commands/rejoin.ts'
import { setupCommand } from './commands/setup.ts'
import { slowDiskCommand } from './commands/slow-disk.ts'
import { sshCommand } from './commands/ssh.ts'
import { startCommand } from './commands/start.ts'
import { statusCommand } from './commands/status.ts'
import { upCommand } from './commands/up.ts'
import { requirePrerequisites } from './prerequisites.ts'

const lab = new Command('lab')
  .description('the engine built from source, and hosts to run it on')
  .option('--lab <name>', 'which lab', process.env['HYPERKUBE_LAB'] ?? 'lab')
  .enablePositionalOptions()

lab.hook('preAction', async (_lab, action) => {
  if (action.name() !== 'setup') await requirePrerequisites()
})

for (const add of [
  setupCommand,
  engineCommand,
  pinCommand,
  mirrorCommand,
  clusterCommand,
  kubectlCommand,
  benchCommand,
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
]) {
  add(lab)
}

try {
  await lab.parseAsync()
} catch (error) {
  const hint = error instanceof HyperkubeError && error.hint !== undefined ? `\n  → ${error.hint}` : ''
  process.stderr.write(`${describe(error)}${hint}\n`)
  process.exitCode = 1
}
