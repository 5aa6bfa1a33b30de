import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Argv,
  commandFailed,
  type CommandOptions,
  type CommandResult,
  run,
} from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { quote } from '../../src/kit/shell.ts'
import { isRunning } from './boot.ts'
import { hostMark } from './names.ts'
import { isConnected, makeKey, openConnection, type SshTarget, sshArgv } from './ssh.ts'
import { controlSocket } from './cleanup.ts'

export interface MachinePlace {
  readonly name: string
  readonly network: number
  readonly address: string
}

/** What is booted in a lab and answers ssh, whatever it is made of. */
export class Machine {
  readonly name: string
  readonly address: string
  /** What the machine around it calls it: its interface and cgroups. */
  readonly mark: string
  readonly directory: string
  readonly ssh: SshTarget
  readonly console: string

  constructor(directory: string, { name, network, address }: MachinePlace, keyFile: string) {
    this.name = name
    this.address = address
    this.mark = hostMark(network, name)
    this.directory = directory
    this.console = join(directory, 'console.log')
    const knownHosts = join(directory, 'known_hosts')
    this.ssh = { address, keyFile, knownHosts, control: controlSocket(directory) }
  }

  /** Runs a program on it. */
  async exec(argv: Argv, options?: CommandOptions): Promise<CommandResult> {
    return this.#run(argv.join(' '), argv.map(quote).join(' '), options)
  }

  /** Runs a script on it, which reads it from standard input. */
  async script(text: string, options?: Omit<CommandOptions, 'input'>): Promise<CommandResult> {
    return this.#run('a script', 'sh -eu', { ...options, input: text })
  }

  async isRunning(): Promise<boolean> {
    return isRunning(this.mark)
  }

  /** Waits until a machine that runs takes logins. */
  async connect(within = 60_000): Promise<void> {
    if (await isConnected(this.ssh)) return
    const alive = async (): Promise<boolean> => this.isRunning()
    await openConnection(this.ssh, within, alive).catch(async (cause: unknown) => {
      const said = await readFile(this.console, 'utf8').catch(() => '')
      // A test takes the host away before anybody could read it.
      const end = said.trimEnd().split('\n').slice(-8).join('\n')
      throw new HyperkubeError('HOST_NOT_UP', `the host did not come up; its last words were\n${end}\n`, {
        host: this.name,
        hint: `read ${this.console}`,
        cause,
      })
    })
  }

  async #run(what: string, remote: string, options: CommandOptions = {}): Promise<CommandResult> {
    const result = await run(sshArgv(this.ssh, remote), { ...options, allowFailure: true })
    if (result.code === 0 || options.allowFailure === true) return result
    throw commandFailed(what, result, { host: this.name })
  }
}

/** What tells a machine from others that were made of the same, below its root: name, keys, machine-id. */
export async function personalize({ name, address, ssh }: Machine, root: string): Promise<void> {
  for (const path of ['etc/ssh', 'root/.ssh']) await mkdir(join(root, path), { recursive: true })
  const hostKey = join(root, 'etc/ssh/ssh_host_ed25519_key')
  await makeKey(hostKey, name)
  await writeFile(ssh.knownHosts, `${address} ${await readFile(`${hostKey}.pub`, 'utf8')}`)
  await writeFile(join(root, 'root/.ssh/authorized_keys'), await readFile(`${ssh.keyFile}.pub`), {
    mode: 0o600,
  })
  await writeFile(join(root, 'etc/hostname'), `${name}\n`)
  await writeFile(join(root, 'etc/hosts'), `127.0.0.1 localhost\n127.0.1.1 ${name}\n`)
  await writeFile(join(root, 'etc/machine-id'), `${randomBytes(16).toString('hex')}\n`)
}
