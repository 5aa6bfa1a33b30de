import { mkdir, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { findCgroups, hierarchies } from './cgroup.ts'

/**
 * All that a host writes lies in one directory. `directory`: an ordinary one, fast. `loop`: a file system of
 * its own, so that power can be cut, the disk slowed and filled.
 */
export type DiskKind = 'directory' | 'loop'

export interface Disk {
  readonly kind: DiskKind
  /** The image of a loop disk. */
  readonly image: string
  /** Where its contents are. */
  readonly directory: string
}

export async function makeDisk(disk: Disk, gigabytes: number): Promise<void> {
  await mkdir(disk.directory, { recursive: true })
  if (disk.kind === 'directory') return
  await (await open(disk.image, 'w')).close()
  await truncate(disk.image, gigabytes * 2 ** 30)
  // No blocks kept back for root: to its processes, full must be full.
  await run(['mkfs.ext4', '-q', '-m', '0', '-E', 'lazy_itable_init=1,lazy_journal_init=1', disk.image])
}

export async function attachDisk(disk: Disk): Promise<void> {
  if (disk.kind === 'directory' || (await isAttached(disk))) return
  await run(['mount', '-o', 'loop', disk.image, disk.directory])
}

/**
 * Whether the disk's file system is there. Every fault must ask first: where it is not, the same path is a directory
 * of the machine's own disk, and the fault would hit that.
 */
export async function isAttached({ directory }: Pick<Disk, 'directory'>): Promise<boolean> {
  return (await mountsBelow(directory)).includes(directory)
}

async function requireAttached(disk: Disk): Promise<void> {
  if (await isAttached(disk)) return
  throw new HyperkubeError('DISK_NOT_ATTACHED', `there is no disk at ${disk.directory}`)
}

/**
 * Cuts the disk's power: nothing more reaches it, and what was not synced is lost. Its processes see I/O
 * errors from here on; end them, then attach the disk anew.
 */
export async function cutPower(disk: Disk): Promise<void> {
  await requireAttached(disk)
  // EXT4_IOC_SHUTDOWN with "do not flush the log"; Node has no ioctl, and perl is on every Debian.
  const shutdown =
    'open(my $d, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl($d, 0x8004587d, $how) or die $!'
  await run(['perl', '-e', shutdown, disk.directory])
}

const fillers = ['.filler', '.filler-rest']

/** Takes all the room there is. */
export async function fillDisk(disk: Disk): Promise<void> {
  await requireAttached(disk)
  const [bulk = '', rest = ''] = fillers.map((name) => join(disk.directory, name))
  const { stdout } = await run(['df', '--output=avail', '-B1', disk.directory])
  const available = stdout.trim().split('\n').at(-1) ?? '0'
  // Both end with "no space left": the first nearly fills the disk at once, the second takes what it left over.
  await run(['fallocate', '-l', available, bulk], { allowFailure: true })
  await run(['dd', 'if=/dev/zero', `of=${rest}`, 'bs=4k', 'conv=fsync'], { allowFailure: true })
}

export async function emptyDisk(disk: Disk): Promise<void> {
  for (const name of fillers) await rm(join(disk.directory, name), { force: true })
}

/**
 * Lets a loop disk do at most so many writes a second; 0 is full speed again. The limit goes on the machine's
 * root group, where the file system's journal writes, and on every cgroup of the host.
 */
export async function slowDisk(disk: Disk, mark: string, writesPerSecond: number): Promise<void> {
  await requireAttached(disk)
  const root = await blkioMount()
  if (root === undefined) {
    throw new HyperkubeError('NO_BLKIO', 'this machine has no blkio controller of cgroup version 1', {
      hint: 'slow-disk does not work on machines with cgroup version 2 only',
    })
  }
  const own = (await findCgroups(mark)).filter((directory) => directory.startsWith(`${root}/`))
  const limit = `${await deviceOf(disk)} ${writesPerSecond}`
  for (const directory of [root, ...own, ...(await below(own))]) {
    await writeFile(join(directory, 'blkio.throttle.write_iops_device'), limit)
  }
}

/** A loop device outlives its disk, and with it the limit on it: the next disk there must not inherit it. */
export async function forgetSlowness(disk: Pick<Disk, 'directory'>): Promise<void> {
  const root = await blkioMount()
  if (root === undefined || !(await isAttached(disk))) return
  await writeFile(join(root, 'blkio.throttle.write_iops_device'), `${await deviceOf(disk)} 0`)
}

/** Every limit on writes that is in force for the whole machine. */
export async function throttles(): Promise<string[]> {
  const root = await blkioMount()
  if (root === undefined) return []
  const text = await readFile(join(root, 'blkio.throttle.write_iops_device'), 'utf8')
  return text.split('\n').filter((line) => line !== '')
}

async function blkioMount(): Promise<string | undefined> {
  return (await hierarchies()).find(({ controllers }) => controllers.includes('blkio'))?.mount
}

/** As the kernel writes it: major and minor number. */
async function deviceOf({ directory }: Pick<Disk, 'directory'>): Promise<string> {
  const { dev } = await stat(directory)
  return `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`
}

async function below(directories: readonly string[]): Promise<string[]> {
  const entries = await Promise.all(
    directories.map(async (directory) => readdir(directory, { recursive: true, withFileTypes: true })),
  )
  return entries
    .flat()
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Every mount at or below a path, the innermost first. */
export async function mountsBelow(path: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')
  const targets = lines.flatMap((line) => line.split(' ')[4] ?? [])
  return targets.filter((target) => target === path || target.startsWith(`${path}/`)).toReversed()
}

export async function unmountBelow(path: string): Promise<void> {
  for (const target of await mountsBelow(path)) await run(['umount', target])
}
