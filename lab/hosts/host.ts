import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { run } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { boot, freezeHost } from './boot.ts'
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
import { Machine, personalize } from './machine.ts'
import { plugIn } from './network.ts'
import { ignoreArrivals } from './partition.ts'
import { sweepHost } from './cleanup.ts'

const recordSchema = z.strictObject({
  apiVersion: z.literal('lab.hyperkube.dev/v1'),
  kind: z.literal('Host'),
  name: z.string(),
  network: z.int().min(0).max(255),
  address: z.ipv4(),
  disk: z.enum(['directory', 'loop']),
  /** The base it was made on: what it wrote is only right on top of that. */
  base: z.string(),
})
export type HostRecord = z.infer<typeof recordSchema>

/** What is kept in real directories below the disk: overlay does not carry containers on overlay. */
const stateDirectories = ['containerd', 'kubelet', 'etcd']

/** A container that looks like a machine. */
export class Host extends Machine {
  readonly disk: Disk
  readonly #record: HostRecord

  constructor(directory: string, record: HostRecord, keyFile: string) {
    super(directory, record, keyFile)
    this.disk = { kind: record.disk, image: join(directory, 'disk.img'), directory: join(directory, 'disk') }
    this.#record = record
  }

  /** From powered off to answering ssh. */
  async start(cache: string): Promise<void> {
    await sweepHost(this.mark, this.directory)
    await this.#attach(join(cache, 'base', this.#record.base))
    await plugIn({ network: this.#record.network, host: this.name, address: this.address })
    await ignoreArrivals(this.mark, await this.unheard())
    await boot({
      mark: this.mark,
      name: this.name,
      root: join(this.directory, 'root'),
      console: this.console,
      binds: Object.fromEntries(
        stateDirectories.map((name) => [join(this.disk.directory, 'state', name), `/var/lib/${name}`]),
      ),
    })
    await this.connect()
  }

  /** All processes end at once; the disk keeps what the kernel had taken in. */
  async crash(): Promise<void> {
    await sweepHost(this.mark, this.directory)
  }

  /** A crash in which all that was not synced to disk is lost. */
  async powerCut(): Promise<void> {
    await this.#needDisk('power-cut')
    // Or somebody would live to see that the disk is gone.
    await freezeHost(this.mark)
    await cutPower(this.disk)
    await this.crash()
  }

  async slowDisk(writesPerSecond: number): Promise<void> {
    await this.#needDisk('slow-disk')
    await slowDisk(this.disk, this.mark, writesPerSecond)
  }

  async fillDisk(): Promise<void> {
    await this.#needDisk('fill-disk')
    await fillDisk(this.disk)
  }

  async emptyDisk(): Promise<void> {
    await this.#needDisk('fill-disk --empty')
    await emptyDisk(this.disk)
  }

  /** The addresses from which nothing arrives; a partition outlives a crash of the host. */
  async unheard(): Promise<string[]> {
    const text = await readFile(this.#unheardFile, 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  async setUnheard(addresses: readonly string[]): Promise<void> {
    await writeFile(this.#unheardFile, addresses.map((address) => `${address}\n`).join(''))
    if (await this.isRunning()) await ignoreArrivals(this.mark, addresses)
  }

  /** Takes the host off the machine, with all it ever wrote. */
  async remove(): Promise<void> {
    await this.crash()
    await rm(this.directory, { recursive: true, force: true })
  }

  get #unheardFile(): string {
    return join(this.directory, 'unheard')
  }

  async #attach(base: string): Promise<void> {
    await attachDisk(this.disk)
    const layers = {
      lowerdir: base,
      upperdir: join(this.disk.directory, 'upper'),
      workdir: join(this.disk.directory, 'work'),
    }
    const options = Object.entries(layers).map(([name, path]) => `${name}=${path}`)
    await run(['mount', '-t', 'overlay', '-o', options.join(','), 'overlay', join(this.directory, 'root')])
  }

  async #needDisk(command: string): Promise<void> {
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

export interface HostWish {
  readonly name: string
  readonly network: number
  readonly address: string
  readonly disk: Disk['kind']
  readonly diskGigabytes: number
  /** The base's directory in the cache. */
  readonly base: string
}

/** Lays out all that a host is before its first boot. Only a whole one bears a record. */
export async function makeHost(directory: string, keyFile: string, wish: HostWish): Promise<Host> {
  const { name, network, address, disk, diskGigabytes, base } = wish
  const record: HostRecord = {
    apiVersion: 'lab.hyperkube.dev/v1',
    kind: 'Host',
    name,
    network,
    address,
    disk,
    base: basename(base),
  }
  const host = new Host(directory, record, keyFile)
  await mkdir(join(directory, 'root'), { recursive: true })
  await makeDisk(host.disk, diskGigabytes)
  await attachDisk(host.disk)
  await furnish(host)
  // A power cut right after the first boot must find the host's name and keys.
  await run(['sync', '-f', host.disk.directory])
  await writeFile(join(directory, 'host.json.new'), `${JSON.stringify(record, undefined, 2)}\n`)
  await rename(join(directory, 'host.json.new'), join(directory, 'host.json'))
  return host
}

async function furnish(host: Host): Promise<void> {
  const upper = join(host.disk.directory, 'upper')
  await mkdir(join(host.disk.directory, 'work'), { recursive: true })
  for (const name of stateDirectories) {
    await mkdir(join(host.disk.directory, 'state', name), { recursive: true })
  }
  await personalize(host, upper)
}

export async function readHost(directory: string, keyFile: string): Promise<Host | undefined> {
  const text = await readFile(join(directory, 'host.json'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : new Host(directory, recordSchema.parse(JSON.parse(text)), keyFile)
}
