import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'
import { sshArgv } from '../hosts/ssh.ts'
import { findLab } from './open-lab.ts'

export function sshCommand(parent: Command): void {
  parent
    .command('ssh')
    .description('open a shell on a host, or run one command there')
    .argument('<host>')
    .argument('[command...]')
    .passThroughOptions()
    .action(async (name: string, remoteArgs: string[], _options: unknown, command: Command) => {
      const host = await (await findLab(command)).host(name)
      const [program, ...args] = sshArgv(host.ssh, ...remoteArgs)
      const [code] = await once(spawn(program, args, { stdio: 'inherit' }), 'exit')
      process.exitCode = Number(code ?? 1)
    })
}
