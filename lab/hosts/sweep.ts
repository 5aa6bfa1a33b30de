import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { exists } from '../../src/kit/files.ts'
import { until } from '../../src/kit/until.ts'
import { killHost } from './boot.ts'
import { cgroupsWithPrefix, processesIn } from './cgroup.ts'
import { mountsBelow, unmountBelow } from './disk.ts'
import { hostMark, labDirectory, networkName, networksDirectory } from './names.ts'
import { links, namespaces, removeBridge, tables, unplug } from './network.ts'
import { closeConnection } from './ssh.ts'

/** What is left on the machine of one host, found by name: takes it away, but for the host's own files. */
export async function sweepHost(mark: string, directory: string): Promise<void> {
  await killHost(mark)
  const control = join(directory, 'ssh')
  if (await exists(control)) await closeConnection(control)
  await unplug(mark)
  await unmountBelow(directory)
}

/** What is left of a whole lab, whoever made it and however it ended. */
export async function sweep(lab: string, network: number): Promise<void> {
  const directory = labDirectory(lab)
  await waitForOrphans([`${directory}/`, `${networkName(network)}-`])
  const found = await traces(lab, network)
  const marks = new Set([
    ...found.cgroups.map((path) => path.slice(path.lastIndexOf('/') + 1)),
    ...found.namespaces,
    ...found.links.filter((name) => name !== networkName(network)),
    ...(await readdir(join(directory, 'hosts')).catch(() => [])).map((name) => hostMark(network, name)),
  ])
  await Promise.all(
    [...marks].map(async (mark) =>
      sweepHost(mark, join(directory, 'hosts', mark.slice(networkName(network).length + 1))),
    ),
  )
  await removeBridge(network)
  await unmountBelow(directory)
  await rm(directory, { recursive: true, force: true })
  await rm(join(networksDirectory, String(network)), { force: true })
}

export interface Traces {
  readonly processes: readonly number[]
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
  const prefix = `${networkName(network)}-`
  const directory = labDirectory(lab)
  const cgroups = await cgroupsWithPrefix(prefix)
  const bridge = networkName(network)
  return {
    processes: [...(await processesIn(cgroups)), ...(await processesNaming(directory))],
    cgroups,
    namespaces: await namespaces(prefix),
    links: (await links(bridge)).filter((name) => name === bridge || name.startsWith(prefix)),
    tables: (await tables(bridge)).filter((name) => name === bridge),
    mounts: await mountsBelow(directory),
    loops: await loopsBelow(directory),
    files: (await exists(directory)) ? [directory] : [],
  }
}

/** The short-lived programs by which a lab is made. */
const helpers = new Set(['ip', 'mount', 'umount', 'mkfs.ext4', 'ssh-keygen', 'sh', 'nft'])

/** A lab that was killed may leave a helper at work; what it is about to make must be there to be swept. */
async function waitForOrphans(naming: readonly string[]): Promise<void> {
  await until(
    'helpers of an interrupted run to end',
    async () => {
      const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
      const found = await Promise.all(pids.map(async (pid) => isHelper(pid, naming)))
      return !found.includes(true)
    },
    { within: 10_000, every: 20 },
  )
}

async function isHelper(pid: string, naming: readonly string[]): Promise<boolean> {
  const read = async (file: string): Promise<string> =>
    readFile(join('/proc', pid, file), 'utf8').catch(() => '')
  if (!helpers.has((await read('comm')).trim())) return false
  const words = (await read('cmdline')).split('\0')
  return words.some((word) => naming.some((name) => word.includes(name)))
}

/** Processes outside the hosts' cgroups that work on a lab's files: ssh connections, mirrors. */
async function processesNaming(directory: string): Promise<number[]> {
  const { stdout } = await run(['pgrep', '-f', `${directory}/`], { allowFailure: true })
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]))
}

async function loopsBelow(directory: string): Promise<string[]> {
  const { stdout } = await run(['losetup', '--list', '--noheadings', '--output', 'NAME,BACK-FILE'])
  return stdout.split('\n').filter((line) => line.includes(`${directory}/`))
}
