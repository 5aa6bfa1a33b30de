import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileExists } from '../../src/kit/files.ts'
import { runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { killHost } from './boot.ts'
import { findCgroupsByPrefix, listProcesses } from './cgroup.ts'
import { clearWriteLimit, listMountsBelow, unmountBelow } from './disk.ts'
import { formatHostId, labDirectory, networkName } from './names.ts'
import { findNetworkOwner, releaseNetwork } from './network-claim.ts'
import { detachHostNetwork, listLinks, listNamespaces, listTables, removeBridge } from './network.ts'
import { closeConnection } from './ssh.ts'

/** Path of the ssh control socket that all commands on a host share. */
export function controlSocketPath(hostDirectory: string): string {
  return join(hostDirectory, 'ssh')
}

/**
 * Ends all processes of a host and removes its network, mounts and disk limits from the machine that runs the
 * lab. The files of the host are kept.
 */
export async function cleanUpHost(hostId: string, directory: string): Promise<void> {
  await killHost(hostId)
  if (await fileExists(controlSocketPath(directory))) await closeConnection(controlSocketPath(directory))
  await detachHostNetwork(hostId)
  await clearWriteLimit({ directory: join(directory, 'disk') })
  await unmountBelow(directory)
  // The kernel releases the mounts of a host a moment after its last process ends. If the disk were mounted
  // again earlier, a file system that a power cut has shut down would be reused.
  await pollUntil(
    `the disk of ${hostId} to be released`,
    async () => (await listLoopDevices(directory)).length === 0,
    {
      timeoutMs: 30_000,
      intervalMs: 20,
    },
  )
}

/** Removes everything of a lab from the machine that runs it, however the last run of the lab ended. */
export async function cleanUpLab(lab: string, network: number): Promise<void> {
  // Nothing is removed if the network number now belongs to another lab.
  if ((await findNetworkOwner(network)) !== lab) return
  const directory = labDirectory(lab)
  await waitForSetupPrograms(directory, network)
  const found = await listTraces(lab, network)
  const hostIds = new Set([
    ...found.cgroups.map((path) => basename(path)),
    ...found.namespaces,
    ...found.links.filter((name) => name !== networkName(network)),
    ...found.files.filter((path) => path !== directory).map((path) => basename(path)),
    ...(await readdir(join(directory, 'hosts')).catch(() => [])).map((name) => formatHostId(network, name)),
  ])
  await settleAll(
    [...hostIds].map(async (hostId) =>
      cleanUpHost(hostId, join(directory, 'hosts', hostId.slice(networkName(network).length + 1))),
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
  /** Other processes whose command line names files of the lab, for example ssh connections. */
  readonly helpers: readonly number[]
  readonly cgroups: readonly string[]
  readonly namespaces: readonly string[]
  readonly links: readonly string[]
  readonly tables: readonly string[]
  readonly mounts: readonly string[]
  readonly loops: readonly string[]
  readonly files: readonly string[]
}

/** Lists everything that a lab has left on the machine that runs it. All lists are empty after `down`. */
export async function listTraces(lab: string, network: number): Promise<Traces> {
  const bridge = networkName(network)
  const prefix = `${bridge}-`
  const directory = labDirectory(lab)
  const cgroups = await findCgroupsByPrefix(prefix)
  const nspawn = '/run/systemd/nspawn/propagate'
  const leftovers = (await readdir(nspawn).catch(() => [])).filter((name) => name.startsWith(prefix))
  return {
    processes: await listProcesses(cgroups),
    helpers: await findProcessesNaming(directory),
    cgroups,
    namespaces: await listNamespaces(prefix),
    links: (await listLinks(bridge)).filter((name) => name === bridge || name.startsWith(prefix)),
    tables: (await listTables(bridge)).filter((name) => name === bridge),
    mounts: await listMountsBelow(directory),
    loops: await listLoopDevices(directory),
    files: [
      ...((await fileExists(directory)) ? [directory] : []),
      ...leftovers.map((name) => join(nspawn, name)),
    ],
  }
}

/** Short-lived programs that run while a lab is created. */
const setupPrograms = new Set(['ip', 'nft', 'mount', 'umount', 'mkfs.ext4', 'ssh-keygen', 'fallocate', 'dd'])

/**
 * Waits for programs of a killed run, because they may still create resources that the cleanup must remove. A
 * program that hangs does not block the cleanup.
 */
async function waitForSetupPrograms(directory: string, network: number): Promise<void> {
  const bridge = networkName(network)
  const namesLab = (word: string): boolean =>
    word === bridge || word.startsWith(`${bridge}-`) || word.includes(`${directory}/`)
  await pollUntil(
    'programs of an interrupted run to end',
    async () => {
      const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
      const found = await Promise.all(pids.map(async (pid) => isSetupProgram(pid, namesLab)))
      return !found.includes(true)
    },
    { timeoutMs: 10_000, intervalMs: 20 },
  ).catch(() => undefined)
}

async function isSetupProgram(pid: string, namesLab: (word: string) => boolean): Promise<boolean> {
  const read = async (file: string): Promise<string> =>
    readFile(join('/proc', pid, file), 'utf8').catch(() => '')
  const words = (await read('cmdline')).split('\0')
  // A shell with the argument `enter` counts too, because it is about to execute the program of a host.
  return (setupPrograms.has((await read('comm')).trim()) || words[3] === 'enter') && words.some(namesLab)
}

async function findProcessesNaming(directory: string): Promise<number[]> {
  const { stdout } = await runProgram(['pgrep', '-f', `${directory}/`], { allowFailure: true })
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]))
}

async function listLoopDevices(directory: string): Promise<string[]> {
  const { stdout } = await runProgram(['losetup', '--list', '--noheadings', '--output', 'NAME,BACK-FILE'])
  return stdout.split('\n').filter((line) => line.includes(`${directory}/`))
}
