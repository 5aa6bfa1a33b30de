import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { exists } from '../../src/kit/files.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { killHost } from './boot.ts'
import { cgroupsWithPrefix, processesIn } from './cgroup.ts'
import { claimant, releaseNetwork } from './network-claim.ts'
import { forgetSlowness, mountsBelow, unmountBelow } from './disk.ts'
import { hostMark, labDirectory, networkName } from './names.ts'
import { links, namespaces, removeBridge, tables, unplug } from './network.ts'
import { closeConnection } from './ssh.ts'

/** The socket of the connection that all commands on a host share. */
export function controlSocket(hostDirectory: string): string {
  return join(hostDirectory, 'ssh')
}

/** What is left on the machine of one host, found by name: takes it away, but for the host's own files. */
export async function sweepHost(mark: string, directory: string): Promise<void> {
  await killHost(mark)
  if (await exists(controlSocket(directory))) await closeConnection(controlSocket(directory))
  await unplug(mark)
  await forgetSlowness({ directory: join(directory, 'disk') })
  await unmountBelow(directory)
  // The kernel takes apart what the host had mounted a moment after its last process: attached before that, its disk would
  // be the one whose power was cut.
  await until(`the disk of ${mark} to be let go`, async () => (await loopsBelow(directory)).length === 0, {
    within: 30_000,
    every: 20,
  })
}

/** What is left of a whole lab, whoever made it and however it ended. */
export async function sweep(lab: string, network: number): Promise<void> {
  // The number may be another lab's by now.
  if ((await claimant(network)) !== lab) return
  const directory = labDirectory(lab)
  await waitForOrphans(directory, network)
  const found = await traces(lab, network)
  const marks = new Set([
    ...found.cgroups.map((path) => basename(path)),
    ...found.namespaces,
    ...found.links.filter((name) => name !== networkName(network)),
    ...found.files.filter((path) => path !== directory).map((path) => basename(path)),
    ...(await readdir(join(directory, 'hosts')).catch(() => [])).map((name) => hostMark(network, name)),
  ])
  await settleAll(
    [...marks].map(async (mark) =>
      sweepHost(mark, join(directory, 'hosts', mark.slice(networkName(network).length + 1))),
    ),
  )
  await removeBridge(network)
  await unmountBelow(directory)
  await rm(directory, { recursive: true, force: true })
  await releaseNetwork(network)
}

export interface Traces {
  /** Processes of hosts. */
  readonly processes: readonly number[]
  /** Processes beside them that work on a lab's files: connections, helpers. */
  readonly helpers: readonly number[]
  readonly cgroups: readonly string[]
  readonly namespaces: readonly string[]
  readonly links: readonly string[]
  readonly tables: readonly string[]
  readonly mounts: readonly string[]
  readonly loops: readonly string[]
  readonly files: readonly string[]
}

/** All that a lab has on the machine: empty lists after `down`. */
export async function traces(lab: string, network: number): Promise<Traces> {
  const bridge = networkName(network)
  const prefix = `${bridge}-`
  const directory = labDirectory(lab)
  const cgroups = await cgroupsWithPrefix(prefix)
  const nspawn = '/run/systemd/nspawn/propagate'
  const left = (await readdir(nspawn).catch(() => [])).filter((name) => name.startsWith(prefix))
  return {
    processes: await processesIn(cgroups),
    helpers: await processesNaming(directory),
    cgroups,
    namespaces: await namespaces(prefix),
    links: (await links(bridge)).filter((name) => name === bridge || name.startsWith(prefix)),
    tables: (await tables(bridge)).filter((name) => name === bridge),
    mounts: await mountsBelow(directory),
    loops: await loopsBelow(directory),
    files: [...((await exists(directory)) ? [directory] : []), ...left.map((name) => join(nspawn, name))],
  }
}

/** The short-lived programs by which a lab is made. */
const makers = new Set(['ip', 'nft', 'mount', 'umount', 'mkfs.ext4', 'ssh-keygen', 'fallocate', 'dd'])

/**
 * A lab that was killed may leave a program at work; what that is about to make must be there to be swept. One that
 * hangs must not keep us from sweeping.
 */
async function waitForOrphans(directory: string, network: number): Promise<void> {
  const bridge = networkName(network)
  const names = (word: string): boolean =>
    word === bridge || word.startsWith(`${bridge}-`) || word.includes(`${directory}/`)
  await until(
    'programs of an interrupted run to end',
    async () => {
      const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
      const found = await Promise.all(pids.map(async (pid) => isMaker(pid, names)))
      return !found.includes(true)
    },
    { within: 10_000, every: 20 },
  ).catch(() => undefined)
}

async function isMaker(pid: string, names: (word: string) => boolean): Promise<boolean> {
  const read = async (file: string): Promise<string> =>
    readFile(join('/proc', pid, file), 'utf8').catch(() => '')
  const words = (await read('cmdline')).split('\0')
  // The shells that enter a host's cgroups and mounts are about to become the host.
  return (makers.has((await read('comm')).trim()) || words[3] === 'enter') && words.some(names)
}

async function processesNaming(directory: string): Promise<number[]> {
  const { stdout } = await run(['pgrep', '-f', `${directory}/`], { allowFailure: true })
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]))
}

async function loopsBelow(directory: string): Promise<string[]> {
  const { stdout } = await run(['losetup', '--list', '--noheadings', '--output', 'NAME,BACK-FILE'])
  return stdout.split('\n').filter((line) => line.includes(`${directory}/`))
}
