import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { exists } from '../../src/kit/files.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { installForVirtualMachines } from '../prerequisites.ts'
import { type Report, silentReport } from '../report.ts'
import { ensureBase } from './base.ts'
import { claimant, claimNetwork, exclusively, findNetwork } from './network-claim.ts'
import type { DiskKind } from './disk.ts'
import { type Host, makeHost, readHost } from './host.ts'
import { gatewayAddress, hostAddress, hostMark, isHostName, isLabName, labDirectory } from './names.ts'
import { makeBridge } from './network.ts'
import { makeKey } from './ssh.ts'
import { sweep, sweepHost } from './cleanup.ts'
import { VirtualMachine } from './virtual-machine.ts'

/** The highest number that an address can be made of. */
const lastHost = 244

export interface LabOptions {
  readonly name: string
  readonly cache: string
  readonly report?: Report
}

export interface UpOptions {
  readonly disk?: DiskKind
  readonly diskGigabytes?: number
}

/** A set of hosts on one bridge. Several labs live on one machine without meeting. */
export class Lab {
  readonly name: string
  readonly network: number
  /** The machine's own address on the lab's bridge: where the mirror is. */
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

  /** The lab of that name, which gets a number on this machine if it has none yet. */
  static async open(options: LabOptions): Promise<Lab> {
    if (!isLabName(options.name)) {
      throw new HyperkubeError('LAB_NAME', `"${options.name}" cannot be the name of a lab`, {
        hint: 'lower-case letters, digits and dashes, a letter first',
      })
    }
    return new Lab(options, await claimNetwork(options.name))
  }

  /** The lab of that name, if there is one. */
  static async find(options: LabOptions): Promise<Lab | undefined> {
    const network = await findNetwork(options.name)
    return network === undefined ? undefined : new Lab(options, network)
  }

  /** Makes and starts hosts of these names; those that run already are left as they are. */
  async up(wanted: readonly string[], options: UpOptions = {}): Promise<Host[]> {
    const names = [...new Set(wanted)]
    const wrong = names.find((name) => !isHostName(name))
    if (wrong !== undefined) {
      throw new HyperkubeError('HOST_NAME', `"${wrong}" cannot be the name of a host`, {
        hint: 'at most nine lower-case letters and digits, a letter first',
      })
    }
    const base = await ensureBase(this.#cache, this.#report)
    return exclusively(this.name, async () => {
      await this.#prepare()
      const known = new Map((await this.hosts()).map(({ name, address }) => [name, address]))
      const addresses = assignAddresses(this.network, known, names)
      return settleAll(names.map(async (name) => this.#bring(name, addresses.get(name) ?? '', base, options)))
    })
  }

  /** Makes and starts a machine with a kernel of its own: the only one of its lab, and no host that faults are for. */
  async upVirtual(name: string): Promise<VirtualMachine> {
    await installForVirtualMachines(this.#report)
    const base = await ensureBase(this.#cache, this.#report, 'virtual-machine')
    return exclusively(this.name, async () => {
      await this.#prepare()
      const directory = this.#hostDirectory(name)
      const place = { name, network: this.network, address: hostAddress(this.network, lastHost) }
      return this.#report.step(`start ${name} (${place.address})`, async () =>
        VirtualMachine.start({ ...place, directory, keyFile: this.#keyFile, base }),
      )
    })
  }

  async start(name: string): Promise<Host> {
    return exclusively(this.name, async () => {
      const host = await this.host(name)
      await this.#prepare()
      await this.#wake(host)
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

  /** No packet of `from` reaches `to`; with `oneWay` those of `to` still reach `from`. */
  async partition(from: Host, to: readonly Host[], { oneWay = false } = {}): Promise<void> {
    for (const host of to) await host.setUnheard([...new Set([...(await host.unheard()), from.address])])
    if (oneWay) return
    await from.setUnheard([...new Set([...(await from.unheard()), ...to.map(({ address }) => address)])])
  }

  /** Takes back every partition of the lab. */
  async rejoin(): Promise<void> {
    for (const host of await this.hosts()) await host.setUnheard([])
  }

  /** Takes all hosts away and keeps the lab itself. */
  async clear(): Promise<void> {
    await exclusively(this.name, async () =>
      settleAll((await this.hosts()).map(async (host) => host.remove())),
    )
  }

  /** Leaves nothing of the lab on the machine, in whatever state it is. */
  async down(): Promise<void> {
    await exclusively(this.name, async () => sweep(this.name, this.network))
  }

  async #bring(name: string, address: string, base: string, options: UpOptions): Promise<Host> {
    const directory = this.#hostDirectory(name)
    const known = await readHost(directory, this.#keyFile)
    const disk = options.disk ?? known?.disk.kind ?? 'directory'
    if (known !== undefined && known.disk.kind !== disk) {
      throw new HyperkubeError('HOST_HAS_OTHER_DISK', `the host has a disk of kind ${known.disk.kind}`, {
        host: name,
        hint: 'take a new name, or begin anew: npm run lab -- down',
      })
    }
    const host = known ?? (await this.#make(directory, { name, address, disk }, base, options))
    await this.#wake(host)
    return host
  }

  async #make(
    directory: string,
    { name, address, disk }: { name: string; address: string; disk: DiskKind },
    base: string,
    { diskGigabytes = 20 }: UpOptions,
  ): Promise<Host> {
    // What an interrupted run has left of it.
    await sweepHost(hostMark(this.network, name), directory)
    await rm(directory, { recursive: true, force: true })
    const wish = { name, network: this.network, address, disk, diskGigabytes, base }
    return makeHost(directory, this.#keyFile, wish)
  }

  async #wake(host: Host): Promise<void> {
    if (await host.isRunning()) await host.connect()
    else {
      await this.#report.step(`start ${host.name} (${host.address})`, async () => host.start(this.#cache))
    }
  }

  async #prepare(): Promise<void> {
    if ((await claimant(this.network)) !== this.name) {
      throw new HyperkubeError('LAB_IS_DOWN', `lab ${this.name} has been taken down`, { hint: 'begin anew' })
    }
    await mkdir(this.directory, { recursive: true, mode: 0o700 })
    if (!(await exists(this.#keyFile))) await makeKey(this.#keyFile, `lab ${this.name}`)
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

/** Known hosts keep their address; new ones get the lowest that is free. */
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

/** Each host's systemd, kubelet and containerd take many of what a desktop needs few of. */
async function raiseInotifyLimit(): Promise<void> {
  const file = '/proc/sys/fs/inotify/max_user_instances'
  if (Number(await readFile(file, 'utf8')) < 8192) {
    await run(['sysctl', '-qw', 'fs.inotify.max_user_instances=8192'])
  }
}
