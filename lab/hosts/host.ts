import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { runProgram } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { bootContainer, freezeHost } from './boot.ts'
import {
  attachDisk,
  cutPower,
  type Disk,
  emptyDisk,
  fillDisk,
  isAttached,
  makeDisk,
  slowDisk,
} from './disk.ts'
import { Machine, writeHostIdentity } from './machine.ts'
import { attachHostNetwork } from './network.ts'
import { dropPacketsFrom } from './partition.ts'
import { cleanUpHost } from './cleanup.ts'

const recordSchema = z.strictObject({
  apiVersion: z.literal('lab.hyperkube.dev/v1'),
  kind: z.literal('Host'),
  name: z.string(),
  network: z.int().min(0).max(255),
  address: z.ipv4(),
  disk: z.enum(['directory', 'loop']),
  /**
   * Name of the base (root file system) in the cache. The host's overlay is valid only on top of this base.
   */
  base: z.string(),
  /** True if the base has Docker. */
  docker: z.literal(true).optional(),
})
export type HostRecord = z.infer<typeof recordSchema>

/**
 * Directories below /var/lib that are bind-mounted from the disk of the host. The rest of the host's root is
 * an overlayfs, on which containerd cannot mount the overlayfs of a container.
 */
const stateDirectories = ['containerd', 'kubelet', 'etcd']

function listStateDirectories({ docker }: Pick<HostRecord, 'docker'>): readonly string[] {
  return docker === true ? [...stateDirectories, 'docker'] : stateDirectories
}

/** A lab host: a container that boots systemd like a machine. */
export class Host extends Machine {
  readonly disk: Disk
  readonly #record: HostRecord

  constructor(directory: string, record: HostRecord, keyFile: string) {
    super(directory, record, keyFile)
    this.disk = { kind: record.disk, image: join(directory, 'disk.img'), directory: join(directory, 'disk') }
    this.#record = record
  }

  /** Boots the host and waits until it accepts ssh connections. */
  async start(cache: string): Promise<void> {
    await cleanUpHost(this.hostId, this.directory)
    await this.#attach(join(cache, 'base', this.#record.base))
    await attachHostNetwork({ network: this.#record.network, host: this.name, address: this.address })
    await dropPacketsFrom(this.hostId, await this.readDroppedSources())
    await bootContainer({
      hostId: this.hostId,
      name: this.name,
      root: join(this.directory, 'root'),
      console: this.console,
      binds: Object.fromEntries(
        listStateDirectories(this.#record).map((name) => [
          join(this.disk.directory, 'state', name),
          `/var/lib/${name}`,
        ]),
      ),
    })
    await this.connect()
  }

  /** Ends all processes at once. Data that the kernel has accepted stays on the disk. */
  async crash(): Promise<void> {
    await cleanUpHost(this.hostId, this.directory)
  }

  /** A crash that also loses everything that was not synced to disk. */
  async powerCut(): Promise<void> {
    await this.#requireDisk('power-cut')
    // Freezes the host first. Otherwise its processes could react to I/O errors before they are killed.
    await freezeHost(this.hostId)
    await cutPower(this.disk)
    await this.crash()
  }

  async slowDisk(writesPerSecond: number): Promise<void> {
    await this.#requireDisk('slow-disk')
    await slowDisk(this.disk, this.hostId, writesPerSecond)
  }

  async fillDisk(): Promise<void> {
    await this.#requireDisk('fill-disk')
    await fillDisk(this.disk)
  }

  async emptyDisk(): Promise<void> {
    await this.#requireDisk('fill-disk --empty')
    await emptyDisk(this.disk)
  }

  /**
   * Reads the addresses whose packets the host drops. They are stored in a file, so a partition outlives a
   * crash of the host.
   */
  async readDroppedSources(): Promise<string[]> {
    const text = await readFile(this.#droppedSourcesFile, 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  async setDroppedSources(addresses: readonly string[]): Promise<void> {
    await writeFile(this.#droppedSourcesFile, addresses.map((address) => `${address}\n`).join(''))
    if (await this.isRunning()) await dropPacketsFrom(this.hostId, addresses)
  }

  /** Removes the host and all its data from the machine that runs the lab. */
  async remove(): Promise<void> {
    await this.crash()
    await rm(this.directory, { recursive: true, force: true })
  }

  get #droppedSourcesFile(): string {
    return join(this.directory, 'dropped-sources')
  }

  async #attach(base: string): Promise<void> {
    await attachDisk(this.disk)
    const layers = {
      lowerdir: base,
      upperdir: join(this.disk.directory, 'upper'),
      workdir: join(this.disk.directory, 'work'),
    }
    const options = Object.entries(layers).map(([name, path]) => `${name}=${path}`)
    await runProgram([
      'mount',
      '-t',
      'overlay',
      '-o',
      options.join(','),
      'overlay',
      join(this.directory, 'root'),
    ])
  }

  async #requireDisk(command: string): Promise<void> {
    if (this.disk.kind !== 'loop') {
      throw new HyperkubeError('HOST_HAS_NO_DISK', `${command} needs a host with a disk of its own`, {
        host: this.name,
        hint: 'make a new one: npm run lab -- up NAME --disk loop',
      })
    }
    if (!(await this.isRunning()) || !(await isAttached(this.disk))) {
      throw new HyperkubeError('HOST_IS_OFF', `${command} needs a host that runs`, {
        host: this.name,
        hint: `npm run lab -- start ${this.name}`,
      })
    }
  }
}

export interface HostOptions {
  readonly name: string
  readonly network: number
  readonly address: string
  readonly disk: Disk['kind']
  readonly diskGigabytes: number
  /** Directory of the base (root file system) in the cache. */
  readonly base: string
  /** True if the base has Docker. */
  readonly docker: boolean
}

/**
 * Creates the files of a host before its first boot. The record is written last, so a host without a record
 * is known to be incomplete.
 */
export async function makeHost(directory: string, keyFile: string, options: HostOptions): Promise<Host> {
  const { name, network, address, disk, diskGigabytes, base, docker } = options
  const record: HostRecord = {
    apiVersion: 'lab.hyperkube.dev/v1',
    kind: 'Host',
    name,
    network,
    address,
    disk,
    base: basename(base),
    ...(docker ? { docker } : {}),
  }
  const host = new Host(directory, record, keyFile)
  await mkdir(join(directory, 'root'), { recursive: true })
  await makeDisk(host.disk, diskGigabytes)
  await attachDisk(host.disk)
  await populateDisk(host, listStateDirectories(record))
  // The host's name and keys must survive a power cut right after the first boot.
  await runProgram(['sync', '-f', host.disk.directory])
  await writeFile(join(directory, 'host.json.new'), `${JSON.stringify(record, undefined, 2)}\n`)
  await rename(join(directory, 'host.json.new'), join(directory, 'host.json'))
  return host
}

async function populateDisk(host: Host, directories: readonly string[]): Promise<void> {
  const upper = join(host.disk.directory, 'upper')
  await mkdir(join(host.disk.directory, 'work'), { recursive: true })
  for (const name of directories) {
    await mkdir(join(host.disk.directory, 'state', name), { recursive: true })
  }
  await writeHostIdentity(host, upper)
}

export async function readHost(directory: string, keyFile: string): Promise<Host | undefined> {
  const text = await readFile(join(directory, 'host.json'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : new Host(directory, recordSchema.parse(JSON.parse(text)), keyFile)
}
