import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Argv,
  type CommandOptions,
  type CommandResult,
  runProgram,
  toCommandError,
} from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { quoteShell } from '../../src/kit/text.ts'
import { isHostRunning } from './boot.ts'
import { controlSocketPath } from './cleanup.ts'
import { formatHostId } from './names.ts'
import { generateKey, isConnected, openConnection, sshArgv, type SshTarget } from './ssh.ts'

export interface MachineEndpoint {
  readonly name: string
  readonly network: number
  readonly address: string
}

/** A booted container or virtual machine of a lab that accepts ssh connections. */
export class Machine {
  readonly name: string
  readonly address: string
  /** Name of the host's network interface and cgroups, unique on the machine that runs the lab. */
  readonly hostId: string
  readonly directory: string
  readonly ssh: SshTarget
  readonly console: string

  constructor(directory: string, { name, network, address }: MachineEndpoint, keyFile: string) {
    this.name = name
    this.address = address
    this.hostId = formatHostId(network, name)
    this.directory = directory
    this.console = join(directory, 'console.log')
    const knownHosts = join(directory, 'known_hosts')
    this.ssh = { address, keyFile, knownHosts, control: controlSocketPath(directory) }
  }

  /** Runs a program on the host. */
  async exec(argv: Argv, options?: CommandOptions): Promise<CommandResult> {
    return this.#run(argv.join(' '), argv.map(quoteShell).join(' '), options)
  }

  /** Runs a script on the host, passed on standard input. */
  async script(text: string, options?: Omit<CommandOptions, 'input'>): Promise<CommandResult> {
    return this.#run('a script', 'sh -eu', { ...options, input: text })
  }

  async isRunning(): Promise<boolean> {
    return isHostRunning(this.hostId)
  }

  /** Waits until a running host accepts logins. */
  async connect(timeoutMs = 60_000): Promise<void> {
    if (await isConnected(this.ssh)) return
    const isAlive = async (): Promise<boolean> => this.isRunning()
    await openConnection(this.ssh, timeoutMs, isAlive).catch(async (cause: unknown) => {
      const consoleLog = await readFile(this.console, 'utf8').catch(() => '')
      // The message contains the end of the log, because the log itself is deleted when a test removes the
      // host.
      const tail = consoleLog.trimEnd().split('\n').slice(-8).join('\n')
      throw new HyperkubeError('HOST_NOT_UP', `the host did not come up; its last output was\n${tail}\n`, {
        host: this.name,
        hint: `read ${this.console}`,
        cause,
      })
    })
  }

  async #run(description: string, remote: string, options: CommandOptions = {}): Promise<CommandResult> {
    const result = await runProgram(sshArgv(this.ssh, remote), { ...options, allowFailure: true })
    if (result.code === 0 || options.allowFailure === true) return result
    throw toCommandError(description, result, { host: this.name })
  }
}

/** Writes the files that distinguish a host from others with the same base: name, keys and machine-id. */
export async function writeHostIdentity({ name, address, ssh }: Machine, root: string): Promise<void> {
  for (const path of ['etc/ssh', 'root/.ssh']) await mkdir(join(root, path), { recursive: true })
  const hostKey = join(root, 'etc/ssh/ssh_host_ed25519_key')
  await generateKey(hostKey, name)
  await writeFile(ssh.knownHosts, `${address} ${await readFile(`${hostKey}.pub`, 'utf8')}`)
  await writeFile(join(root, 'root/.ssh/authorized_keys'), await readFile(`${ssh.keyFile}.pub`), {
    mode: 0o600,
  })
  await writeFile(join(root, 'etc/hostname'), `${name}\n`)
  await writeFile(join(root, 'etc/hosts'), `127.0.0.1 localhost\n127.0.1.1 ${name}\n`)
  await writeFile(join(root, 'etc/machine-id'), `${randomBytes(16).toString('hex')}\n`)
}
