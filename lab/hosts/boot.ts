import { spawn } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileExists } from '../../src/kit/files.ts'
import { hasCode } from '../../src/kit/errors.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { findCgroups, listProcesses, makeCgroups, removeCgroups } from './cgroup.ts'
import { labsDirectory } from './names.ts'

export interface LaunchOptions {
  /** Name of the host's cgroups and network interface, unique on the machine that runs the lab. */
  readonly hostId: string
  readonly name: string
  readonly console: string
}

export interface BootOptions extends LaunchOptions {
  readonly root: string
  /** Directories of the machine that runs the lab, which are mounted into the host: source to target. */
  readonly binds: Readonly<Record<string, string>>
}

/**
 * Shell script that enters the host's cgroups and then executes the host's program. Paths are passed as
 * arguments, never as part of the script.
 */
const enterCgroups = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs"; shift; done; shift; exec "$@"'

/**
 * Shell script that unmounts the disks of other hosts in a private mount namespace. Otherwise the nspawn
 * process of this host would keep these disks mounted. A file system that a power cut has shut down would
 * then be reused when its disk is mounted again.
 */
const unmountOtherHosts = `own=$1 labs=$2; shift 2
cut -d ' ' -f 5 /proc/self/mountinfo | sort -r | while read -r path; do
  case $path in "$own"/*) ;; "$labs"/*) umount "$path" ;; esac
done
exec "$@"`

/** Boots a container. The cgroups in which nspawn is started become the root of the host's cgroup view. */
export async function bootContainer(host: BootOptions): Promise<void> {
  const version1 = await fileExists('/sys/fs/cgroup/memory')
  const unshareCommand = [
    'unshare',
    '--mount',
    'sh',
    '-ec',
    unmountOtherHosts,
    'enter',
    dirname(host.root),
    labsDirectory,
  ]
  await launchHost(host, [...unshareCommand, ...buildNspawnCommand(host)], {
    SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: version1 ? '0' : '1',
    SYSTEMD_NSPAWN_API_VFS_WRITABLE: '1',
    // The locks of nspawn are disabled: two labs never share a root, and nspawn would leave its lock files
    // behind.
    SYSTEMD_NSPAWN_LOCK: '0',
  })
}

/** Starts the program of a host in the host's own cgroups, by which later commands find the host. */
export async function launchHost(
  host: LaunchOptions,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const cgroups = await makeCgroups(host.hostId)
  const log = await open(host.console, 'a')
  try {
    const child = spawn('sh', ['-ec', enterCgroups, 'enter', ...cgroups, '--', ...argv], {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { PATH: process.env['PATH'], ...env },
    })
    await new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    child.unref()
    // Waits until the cgroups contain the host. From then on it can be found by its cgroups, even after this
    // process ends.
    await pollUntil(
      `${host.name} to enter its cgroups`,
      async () => child.exitCode !== null || (await listProcesses(cgroups)).length > 0,
      { timeoutMs: 10_000, intervalMs: 10 },
    )
  } finally {
    await log.close()
  }
}

function buildNspawnCommand({ hostId, name, root, binds }: BootOptions): string[] {
  return [
    'systemd-nspawn',
    '--quiet',
    '--register=no',
    '--keep-unit',
    '--resolv-conf=off',
    '--boot',
    `--directory=${root}`,
    `--machine=${hostId}`,
    `--hostname=${name}`,
    `--network-namespace-path=/run/netns/${hostId}`,
    '--capability=all',
    '--system-call-filter=@mount @keyring bpf @clock @module @raw-io perf_event_open',
    '--bind=/dev/kmsg',
    ...Object.entries(binds).map(([source, target]) => `--bind=${source}:${target}`),
  ]
}

export async function isHostRunning(hostId: string): Promise<boolean> {
  return (await listProcesses(await findCgroups(hostId))).length > 0
}

/**
 * Kills every process of a host at once, like a crash, and waits for the last one to end. Otherwise an old
 * API server would keep its port into the next boot.
 */
export async function killHost(hostId: string): Promise<void> {
  const cgroups = await findCgroups(hostId)
  await pollUntil(
    `the processes of ${hostId} to end`,
    async () => {
      const remaining = await listProcesses(cgroups)
      for (const pid of remaining) kill(pid)
      return remaining.length === 0
    },
    { timeoutMs: 30_000, intervalMs: 20 },
  )
  await rm(`/run/systemd/nspawn/propagate/${hostId}`, { recursive: true, force: true })
  await pollUntil(`the cgroups of ${hostId} to go`, async () => removeCgroups(cgroups).then(() => true), {
    timeoutMs: 10_000,
    intervalMs: 20,
  })
}

/** Suspends all processes of a host with SIGSTOP, so none of them can react. */
export async function freezeHost(hostId: string): Promise<void> {
  for (const pid of await listProcesses(await findCgroups(hostId))) kill(pid, 'SIGSTOP')
}

function kill(pid: number, signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}
