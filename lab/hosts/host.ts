import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import {
  type Argv,
  commandFailed,
  type CommandOptions,
  type CommandResult,
  run,
} from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { exists } from '../../src/kit/files.ts'
import { boot, isRunning, killHost } from './boot.ts'
import {
  attachDisk,
  cutPower,
  type Disk,
  emptyDisk,
  fillDisk,
  makeDisk,
  slowDisk,
  unmountBelow,
} from './disk.ts'
import { hostMark } from './names.ts'
import { plugIn, unplug } from './network.ts'
import { closeConnection, makeKey, openConnection, type SshTarget, sshArgv } from './ssh.ts'

const recordSchema = z.strictObject({
  apiVersion: z.literal('lab.hyperkube.dev/v1'),
  kind: z.literal('Host'),
  name: z.string(),
  network: z.int().min(0).max(255),
  address: z.ipv4(),
  disk: z.enum(['directory', 'loop']),
})
export type HostRecord = z.infer<typeof recordSchema>

/** What is kept in real directories below the disk: overlay does not carry containers on overlay. */
const stateDirectories = ['containerd', 'kubelet', 'etcd']
const bootTime = 60_000

/** One machine of a lab. */
export class Host {
  readonly name: string
  readonly address: string
  /** What the machine calls it: network namespace, veth end and cgroups. */
  readonly mark: string
  readonly directory: string
  readonly ssh: SshTarget
  readonly disk: Disk

  constructor(directory: string, record: HostRecord, keyFile: string) {
    this.name = record.name
    this.address = record.address
    this.mark = hostMark(record.network, record.name)
    this.directory = directory
    this.ssh = {
      address: record.address,
      keyFile,
      knownHosts: join(directory, 'known_hosts'),
      control: join(directory, 'ssh'),
    }
    this.disk = { kind: record.disk, image: join(directory, 'disk.img'), directory: join(directory, 'disk') }
    this.#network = record.network
  }

  readonly #network: number

  /** Runs a program on the host. */
  async exec(argv: Argv, options?: CommandOptions): Promise<CommandResult> {
    return this.#run(argv.join(' '), argv.map(quote).join(' '), options)
  }

  /** Runs a script on the host, which reads it from standard input. */
  async script(text: string, options?: Omit<CommandOptions, 'input'>): Promise<CommandResult> {
    return this.#run('a script', 'sh -eu', { ...options, input: text })
  }

  async #run(what: string, remote: string, options: CommandOptions = {}): Promise<CommandResult> {
    const result = await run(sshArgv(this.ssh, remote), { ...options, allowFailure: true })
    if (result.code === 0 || options.allowFailure === true) return result
    throw commandFailed(what, result, { host: this.name })
  }

  async isRunning(): Promise<boolean> {
    return isRunning(this.mark)
  }

  /** From powered off to answering ssh. */
  async start(base: string): Promise<void> {
    await this.#attach(base)
    await plugIn({ network: this.#network, host: this.name, address: this.address })
    await boot({
      mark: this.mark,
      name: this.name,
      root: this.#root,
      console: join(this.directory, 'console.log'),
      binds: Object.fromEntries(
        stateDirectories.map((name) => [join(this.disk.directory, 'state', name), `/var/lib/${name}`]),
      ),
    })
    await openConnection(this.ssh, bootTime).catch((cause: unknown) => {
      throw new HyperkubeError('HOST_NOT_UP', 'the host did not come up', {
        host: this.name,
        hint: `read ${join(this.directory, 'console.log')}`,
        cause,
      })
    })
  }

  /** All processes end at once; the disk keeps what the kernel had taken in. */
  async crash(): Promise<void> {
    await killHost(this.mark)
    await this.#letGo()
  }

  /** A crash in which all that was not synced to disk is lost. */
  async powerCut(): Promise<void> {
    this.#needLoop('power-cut')
    await cutPower(this.disk)
    await this.crash()
  }

  async slowDisk(writesPerSecond: number): Promise<void> {
    this.#needLoop('slow-disk')
    await slowDisk(this.disk, this.mark, writesPerSecond)
  }

  async fillDisk(): Promise<void> {
    this.#needLoop('fill-disk')
    await fillDisk(this.disk)
  }

  async emptyDisk(): Promise<void> {
    await emptyDisk(this.disk)
  }

  /** Takes the host off the machine, with all it ever wrote. */
  async remove(): Promise<void> {
    await this.crash()
    await rm(this.directory, { recursive: true, force: true })
  }

  get #root(): string {
    return join(this.directory, 'root')
  }

  async #attach(base: string): Promise<void> {
    await attachDisk(this.disk)
    const upper = join(this.disk.directory, 'upper')
    const work = join(this.disk.directory, 'work')
    await run([
      'mount',
      '-t',
      'overlay',
      '-o',
      `lowerdir=${base},upperdir=${upper},workdir=${work}`,
      'overlay',
      this.#root,
    ])
  }

  async #letGo(): Promise<void> {
    if (await exists(this.ssh.control)) await closeConnection(this.ssh.control)
    await unplug(this.mark)
    await unmountBelow(this.directory)
  }

  #needLoop(command: string): void {
    if (this.disk.kind === 'loop') return
    throw new HyperkubeError('HOST_HAS_NO_DISK', `${command} needs a host with a disk of its own`, {
      host: this.name,
      hint: 'npm run lab -- up N --disk loop',
    })
  }
}

export interface HostWish {
  readonly record: HostRecord
  readonly directory: string
  readonly keyFile: string
  readonly diskGigabytes: number
}

/** Lays out all that a host is before its first boot. Only a whole one bears a record. */
export async function makeHost({ record, directory, keyFile, diskGigabytes }: HostWish): Promise<Host> {
  const host = new Host(directory, record, keyFile)
  await mkdir(join(directory, 'root'), { recursive: true })
  await makeDisk(host.disk, diskGigabytes)
  await attachDisk(host.disk)
  await furnish(host, directory)
  await writeFile(join(directory, 'host.json.new'), `${JSON.stringify(record, undefined, 2)}\n`)
  await rename(join(directory, 'host.json.new'), join(directory, 'host.json'))
  return host
}

async function furnish(host: Host, directory: string): Promise<void> {
  const upper = join(host.disk.directory, 'upper')
  for (const path of ['etc/ssh', 'root/.ssh']) await mkdir(join(upper, path), { recursive: true })
  await mkdir(join(host.disk.directory, 'work'), { recursive: true })
  for (const name of stateDirectories) {
    await mkdir(join(host.disk.directory, 'state', name), { recursive: true })
  }
  const hostKey = join(upper, 'etc/ssh/ssh_host_ed25519_key')
  await rm(hostKey, { force: true })
  await makeKey(hostKey, host.name)
  await writeFile(
    join(directory, 'known_hosts'),
    `${host.address} ${await readFile(`${hostKey}.pub`, 'utf8')}`,
  )
  await writeFile(join(upper, 'root/.ssh/authorized_keys'), await readFile(`${host.ssh.keyFile}.pub`), {
    mode: 0o600,
  })
  await writeFile(join(upper, 'etc/hostname'), `${host.name}\n`)
  await writeFile(join(upper, 'etc/hosts'), `127.0.0.1 localhost\n127.0.1.1 ${host.name}\n`)
  await writeFile(join(upper, 'etc/machine-id'), `${randomBytes(16).toString('hex')}\n`)
}

export async function readHost(directory: string, keyFile: string): Promise<Host | undefined> {
  const text = await readFile(join(directory, 'host.json'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : new Host(directory, recordSchema.parse(JSON.parse(text)), keyFile)
}

function quote(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`
}
