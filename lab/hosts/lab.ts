import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileExists } from '../../src/kit/files.ts'
import { runProgram } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { installVirtualMachineTools } from '../prerequisites.ts'
import { type Report, silentReport } from '../report.ts'
import { ensureBase } from './base.ts'
import { cleanUpHost, cleanUpLab } from './cleanup.ts'
import type { DiskKind } from './disk.ts'
import { type Host, makeHost, readHost } from './host.ts'
import { formatHostId, gatewayAddress, hostAddress, isHostName, isLabName, labDirectory } from './names.ts'
import { claimNetwork, findNetwork, findNetworkOwner, withLabLock } from './network-claim.ts'
import { makeBridge } from './network.ts'
import { generateKey } from './ssh.ts'
import { VirtualMachine } from './virtual-machine.ts'

/** The highest host number that has an address. */
const lastHost = 244

export interface LabOptions {
  readonly name: string
  readonly cache: string
  readonly report?: Report
}

export interface UpOptions {
  readonly disk?: DiskKind
  readonly diskGigabytes?: number
  /** True for hosts with Debian's Docker. */
  readonly docker?: boolean
}

/** A set of hosts on one bridge. Several labs can run on one machine without sharing anything. */
export class Lab {
  readonly name: string
  readonly network: number
  /** Address of the machine that runs the lab, on the lab's bridge. The mirror listens there. */
  readonly gateway: string
  readonly directory: string
  readonly #cache: string
  readonly #report: Report

  private constructor(options: LabOptions, network: number) {
    this.name = options.name
    this.network = network
    this.gateway = gatewayAddress(network)
    this.directory = labDirectory(options.name)
    this.#cache = options.cache
    this.#report = options.report ?? silentReport
  }

  /** Opens the lab with this name. A new lab gets a network number. */
  static async open(options: LabOptions): Promise<Lab> {
    if (!isLabName(options.name)) {
      throw new HyperkubeError('LAB_NAME', `"${options.name}" cannot be the name of a lab`, {
        hint: 'lower-case letters, digits and dashes, a letter first',
      })
    }
    return new Lab(options, await claimNetwork(options.name))
  }

  /** Finds the lab with this name; undefined if it does not exist. */
  static async find(options: LabOptions): Promise<Lab | undefined> {
    const network = await findNetwork(options.name)
    return network === undefined ? undefined : new Lab(options, network)
  }

  /** Creates and starts hosts with these names; hosts that already run are not changed. */
  async up(requested: readonly string[], options: UpOptions = {}): Promise<Host[]> {
    const names = [...new Set(requested)]
    const invalid = names.find((name) => !isHostName(name))
    if (invalid !== undefined) {
      throw new HyperkubeError('HOST_NAME', `"${invalid}" cannot be the name of a host`, {
        hint: 'at most nine lower-case letters and digits, a letter first',
      })
    }
    const base = await ensureBase(this.#cache, this.#report, options.docker === true ? 'docker' : 'container')
    return withLabLock(this.name, async () => {
      await this.#prepare()
      const known = new Map((await this.hosts()).map(({ name, address }) => [name, address]))
      const addresses = assignAddresses(this.network, known, names)
      return settleAll(
        names.map(async (name) => this.#ensureHost(name, addresses.get(name) ?? '', base, options)),
      )
    })
  }

  /**
   * Creates and starts a virtual machine, which has its own kernel. A lab has at most one, and faults cannot
   * be injected into it.
   */
  async upVirtual(name: string): Promise<VirtualMachine> {
    await installVirtualMachineTools(this.#report)
    const base = await ensureBase(this.#cache, this.#report, 'virtual-machine')
    return withLabLock(this.name, async () => {
      await this.#prepare()
      const directory = this.#hostDirectory(name)
      const endpoint = { name, network: this.network, address: hostAddress(this.network, lastHost) }
      return this.#report.step(`start ${name} (${endpoint.address})`, async () =>
        VirtualMachine.start({ ...endpoint, directory, keyFile: this.#keyFile, base }),
      )
    })
  }

  async start(name: string): Promise<Host> {
    return withLabLock(this.name, async () => {
      const host = await this.host(name)
      await this.#prepare()
      await this.#startHost(host)
      return host
    })
  }

  async host(name: string): Promise<Host> {
    const host = await readHost(this.#hostDirectory(name), this.#keyFile)
    if (host === undefined) {
      throw new HyperkubeError('NO_SUCH_HOST', `lab ${this.name} has no host ${name}`, {
        hint: 'npm run lab -- status',
      })
    }
    return host
  }

  async hosts(): Promise<Host[]> {
    const names = await readdir(join(this.directory, 'hosts')).catch(() => [])
    const hosts = await Promise.all(
      names.map(async (name) => readHost(this.#hostDirectory(name), this.#keyFile)),
    )
    return hosts
      .filter((host) => host !== undefined)
      .sort((a, b) => a.address.localeCompare(b.address, 'en', { numeric: true }))
  }

  /** Drops all packets from `from` to `to`, and also from `to` to `from` unless `oneWay` is set. */
  async partition(from: Host, to: readonly Host[], { oneWay = false } = {}): Promise<void> {
    for (const host of to)
      await host.setDroppedSources([...new Set([...(await host.readDroppedSources()), from.address])])
    if (oneWay) return
    await from.setDroppedSources([
      ...new Set([...(await from.readDroppedSources()), ...to.map(({ address }) => address)]),
    ])
  }

  /** Removes every partition of the lab. */
  async rejoin(): Promise<void> {
    for (const host of await this.hosts()) await host.setDroppedSources([])
  }

  /** Removes all hosts and keeps the lab. */
  async clear(): Promise<void> {
    await withLabLock(this.name, async () =>
      settleAll((await this.hosts()).map(async (host) => host.remove())),
    )
  }

  /** Removes the lab from the machine that runs it, even after an interrupted run. */
  async down(): Promise<void> {
    await withLabLock(this.name, async () => cleanUpLab(this.name, this.network))
  }

  async #ensureHost(name: string, address: string, base: string, options: UpOptions): Promise<Host> {
    const directory = this.#hostDirectory(name)
    const known = await readHost(directory, this.#keyFile)
    const disk = options.disk ?? known?.disk.kind ?? 'directory'
    if (known !== undefined && known.disk.kind !== disk) {
      throw new HyperkubeError('HOST_HAS_OTHER_DISK', `the host has a disk of kind ${known.disk.kind}`, {
        host: name,
        hint: 'use a new name, or start over: npm run lab -- down',
      })
    }
    const host = known ?? (await this.#createHost(directory, { name, address, disk }, base, options))
    await this.#startHost(host)
    return host
  }

  async #createHost(
    directory: string,
    { name, address, disk }: { name: string; address: string; disk: DiskKind },
    base: string,
    { diskGigabytes = 20, docker = false }: UpOptions,
  ): Promise<Host> {
    // Removes leftovers of an interrupted run.
    await cleanUpHost(formatHostId(this.network, name), directory)
    await rm(directory, { recursive: true, force: true })
    const hostOptions = { name, network: this.network, address, disk, diskGigabytes, base, docker }
    return makeHost(directory, this.#keyFile, hostOptions)
  }

  async #startHost(host: Host): Promise<void> {
    if (await host.isRunning()) await host.connect()
    else {
      await this.#report.step(`start ${host.name} (${host.address})`, async () => host.start(this.#cache))
    }
  }

  async #prepare(): Promise<void> {
    if ((await findNetworkOwner(this.network)) !== this.name) {
      throw new HyperkubeError('LAB_IS_DOWN', `lab ${this.name} has been taken down`, {
        hint: 'run the command again',
      })
    }
    await mkdir(this.directory, { recursive: true, mode: 0o700 })
    if (!(await fileExists(this.#keyFile))) await generateKey(this.#keyFile, `lab ${this.name}`)
    await makeBridge(this.network)
    await raiseInotifyLimit()
  }

  #hostDirectory(name: string): string {
    return join(this.directory, 'hosts', name)
  }

  get #keyFile(): string {
    return join(this.directory, 'id_ed25519')
  }
}

/** Assigns an address to each host: known hosts keep their address, and new hosts get the lowest free one. */
export function assignAddresses(
  network: number,
  known: ReadonlyMap<string, string>,
  names: readonly string[],
): ReadonlyMap<string, string> {
  const assigned = new Map(known)
  const taken = new Set(known.values())
  const free = Array.from({ length: lastHost }, (_, index) => hostAddress(network, index + 1))
    .filter((address) => !taken.has(address))
    .values()
  for (const name of names) {
    if (assigned.has(name)) continue
    const { value: address } = free.next()
    if (address === undefined) throw new HyperkubeError('LAB_FULL', `a lab has room for ${lastHost} hosts`)
    assigned.set(name, address)
  }
  return assigned
}

/**
 * Raises the limit of inotify instances. systemd, kubelet and containerd of all hosts need more than the
 * default.
 */
async function raiseInotifyLimit(): Promise<void> {
  const file = '/proc/sys/fs/inotify/max_user_instances'
  if (Number(await readFile(file, 'utf8')) < 8192) {
    await runProgram(['sysctl', '-qw', 'fs.inotify.max_user_instances=8192'])
  }
}
