import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { exists } from '../../src/kit/files.ts'
import { silentReport, type Report } from '../report.ts'
import { ensureBase } from './base.ts'
import type { DiskKind } from './disk.ts'
import { type Host, makeHost, readHost } from './host.ts'
import {
  gatewayAddress,
  hostAddress,
  isHostName,
  isLabName,
  labDirectory,
  networkName,
  networksDirectory,
} from './names.ts'
import { makeBridge } from './network.ts'
import { deafen, restoreHearing } from './partition.ts'
import { makeKey } from './ssh.ts'
import { sweep, sweepHost } from './sweep.ts'

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

  /** The lab of that name. A new name gets a network of its own. */
  static async open(options: LabOptions): Promise<Lab> {
    if (!isLabName(options.name)) {
      throw new HyperkubeError('LAB_NAME', `"${options.name}" cannot be the name of a lab`, {
        hint: 'lower-case letters, digits and dashes, a letter first',
      })
    }
    return new Lab(options, await claimNetwork(options.name))
  }

  /** Makes and starts hosts of these names; those that run already are left as they are. */
  async up(names: readonly string[], options: UpOptions = {}): Promise<Host[]> {
    const wrong = names.find((name) => !isHostName(name))
    if (wrong !== undefined) {
      throw new HyperkubeError('HOST_NAME', `"${wrong}" cannot be the name of a host`, {
        hint: 'at most nine lower-case letters and digits, a letter first',
      })
    }
    const base = await ensureBase(this.#cache, this.#report)
    await this.#prepare()
    const addresses = assignAddresses(this.network, await this.#addresses(), names)
    return Promise.all(names.map(async (name) => this.#bring(name, addresses.get(name) ?? '', base, options)))
  }

  async start(name: string): Promise<Host> {
    const host = await this.host(name)
    if (!(await host.isRunning())) {
      await sweepHost(host.mark, host.directory)
      await host.start(await ensureBase(this.#cache, this.#report))
    }
    return host
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
    for (const host of to) await deafen(host.mark, [from.address])
    if (oneWay) return
    await deafen(
      from.mark,
      to.map(({ address }) => address),
    )
  }

  /** Takes back every partition of the lab. */
  async rejoin(): Promise<void> {
    for (const host of await this.hosts()) if (await host.isRunning()) await restoreHearing(host.mark)
  }

  /** Takes all hosts away and keeps the lab itself. */
  async clear(): Promise<void> {
    await Promise.all((await this.hosts()).map(async (host) => host.remove()))
  }

  /** Leaves nothing of the lab on the machine, in whatever state it is. */
  async down(): Promise<void> {
    await sweep(this.name, this.network)
  }

  async #bring(name: string, address: string, base: string, options: UpOptions): Promise<Host> {
    const directory = this.#hostDirectory(name)
    const known = await readHost(directory, this.#keyFile)
    if (known !== undefined && (await known.isRunning())) return known
    const mark = `${networkName(this.network)}-${name}`
    await sweepHost(mark, directory)
    if (known === undefined) await rm(directory, { recursive: true, force: true })
    const host =
      known ??
      (await makeHost({
        record: {
          apiVersion: 'lab.hyperkube.dev/v1',
          kind: 'Host',
          name,
          network: this.network,
          address,
          disk: options.disk ?? 'directory',
        },
        directory,
        keyFile: this.#keyFile,
        diskGigabytes: options.diskGigabytes ?? 20,
      }))
    await this.#report.step(`start ${name} (${address})`, async () => host.start(base))
    return host
  }

  async #prepare(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 })
    if (!(await exists(this.#keyFile))) await makeKey(this.#keyFile, `lab ${this.name}`)
    await makeBridge(this.network)
    await raiseInotifyLimit()
  }

  async #addresses(): Promise<Map<string, string>> {
    return new Map((await this.hosts()).map(({ name, address }) => [name, address]))
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
  const free = Array.from({ length: 244 }, (_, index) => hostAddress(network, index + 1))
    .filter((address) => !new Set(known.values()).has(address))
    .values()
  for (const name of names) {
    if (assigned.has(name)) continue
    const { value: address } = free.next()
    if (address === undefined) throw new HyperkubeError('LAB_FULL', 'a lab has room for 244 hosts')
    assigned.set(name, address)
  }
  return assigned
}

async function claimNetwork(lab: string): Promise<number> {
  await mkdir(networksDirectory, { recursive: true })
  for (const name of await readdir(networksDirectory)) {
    if ((await readFile(join(networksDirectory, name), 'utf8')) === lab) return Number(name)
  }
  for (let network = 0; network < 256; network++) {
    const claim = join(networksDirectory, String(network))
    const mine = await writeFile(claim, lab, { flag: 'wx' }).then(
      () => true,
      () => false,
    )
    if (mine) return network
  }
  throw new HyperkubeError('NO_NETWORK_LEFT', 'all 256 lab networks of this machine are taken', {
    hint: 'npm run lab -- down --lab NAME',
  })
}

/** Each host's systemd, kubelet and containerd take many of what a desktop needs few of. */
async function raiseInotifyLimit(): Promise<void> {
  const file = '/proc/sys/fs/inotify/max_user_instances'
  if (Number(await readFile(file, 'utf8')) < 8192)
    await run(['sysctl', '-qw', 'fs.inotify.max_user_instances=8192'])
}
