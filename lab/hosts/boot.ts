import { spawn } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from '../../src/kit/errors.ts'
import { exists } from '../../src/kit/files.ts'
import { until } from '../../src/kit/poll-until.ts'
import { findCgroups, makeCgroups, processesIn, removeCgroups } from './cgroup.ts'
import { labsDirectory } from './names.ts'

export interface Launch {
  /** The machine's mark of this host: its cgroups and interface bear it. */
  readonly mark: string
  readonly name: string
  readonly console: string
}

export interface Boot extends Launch {
  readonly root: string
  /** Directories of the machine that the host sees elsewhere: source to target. */
  readonly binds: Readonly<Record<string, string>>
}

/** Enters the host's cgroups, then becomes the host. Paths are arguments, never part of the script. */
const enterCgroups = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs"; shift; done; shift; exec "$@"'

/**
 * In mounts of its own: lets go of the disks of other hosts. nspawn would keep them below its root, where nobody sees
 * them, and a host whose power was cut would get back the very disk that is dead.
 */
const leaveOthers = `own=$1 labs=$2; shift 2
cut -d ' ' -f 5 /proc/self/mountinfo | sort -r | while read -r path; do
  case $path in "$own"/*) ;; "$labs"/*) umount "$path" ;; esac
done
exec "$@"`

/** nspawn makes the cgroups that it is started in the root of the host's own view. */
export async function boot(host: Boot): Promise<void> {
  const version1 = await exists('/sys/fs/cgroup/memory')
  const leave = ['unshare', '--mount', 'sh', '-ec', leaveOthers, 'enter', dirname(host.root), labsDirectory]
  await launch(host, [...leave, ...nspawn(host)], {
    SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: version1 ? '0' : '1',
    SYSTEMD_NSPAWN_API_VFS_WRITABLE: '1',
    // Two labs never share a root, and the lock files would stay behind.
    SYSTEMD_NSPAWN_LOCK: '0',
  })
}

/** Starts the program that a host is, in cgroups by which it can be found. */
export async function launch(
  host: Launch,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const cgroups = await makeCgroups(host.mark)
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
    // From here on the host can be found by its cgroups, whatever becomes of it or of us.
    await until(
      `${host.name} to enter its cgroups`,
      async () => child.exitCode !== null || (await processesIn(cgroups)).length > 0,
      { within: 10_000, every: 10 },
    )
  } finally {
    await log.close()
  }
}

function nspawn({ mark, name, root, binds }: Boot): string[] {
  return [
    'systemd-nspawn',
    '--quiet',
    '--register=no',
    '--keep-unit',
    '--resolv-conf=off',
    '--boot',
    `--directory=${root}`,
    `--machine=${mark}`,
    `--hostname=${name}`,
    `--network-namespace-path=/run/netns/${mark}`,
    '--capability=all',
    '--system-call-filter=@mount @keyring bpf @clock @module @raw-io perf_event_open',
    '--bind=/dev/kmsg',
    ...Object.entries(binds).map(([source, target]) => `--bind=${source}:${target}`),
  ]
}

export async function isRunning(mark: string): Promise<boolean> {
  return (await processesIn(await findCgroups(mark))).length > 0
}

/**
 * Ends every process of a host at once, as a crash does, and waits until the last is gone: an old API server
 * would hold its port for a moment into the next boot.
 */
export async function killHost(mark: string): Promise<void> {
  const cgroups = await findCgroups(mark)
  await until(
    `the processes of ${mark} to end`,
    async () => {
      const left = await processesIn(cgroups)
      for (const pid of left) kill(pid)
      return left.length === 0
    },
    { within: 30_000, every: 20 },
  )
  await rm(`/run/systemd/nspawn/propagate/${mark}`, { recursive: true, force: true })
  await until(`the cgroups of ${mark} to go`, async () => removeCgroups(cgroups).then(() => true), {
    within: 10_000,
    every: 20,
  })
}

/** Nothing of it moves any more, and nobody is told. */
export async function freezeHost(mark: string): Promise<void> {
  for (const pid of await processesIn(await findCgroups(mark))) kill(pid, 'SIGSTOP')
}

function kill(pid: number, signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}
