import { mkdir, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { findCgroups, readHierarchies } from './cgroup.ts'

/**
 * Where everything that a host writes is stored. `directory` is an ordinary, fast directory. `loop` is a
 * separate file system, which allows power cuts and slow or full disks.
 */
export type DiskKind = 'directory' | 'loop'

export interface Disk {
  readonly kind: DiskKind
  /** Image file of a loop disk. */
  readonly image: string
  /** Directory with the contents of the disk. */
  readonly directory: string
}

export async function makeDisk(disk: Disk, gigabytes: number): Promise<void> {
  await mkdir(disk.directory, { recursive: true })
  if (disk.kind === 'directory') return
  await (await open(disk.image, 'w')).close()
  await truncate(disk.image, gigabytes * 2 ** 30)
  // -m 0 reserves no blocks for root, so a full disk is also full for root's processes.
  await runProgram(['mkfs.ext4', '-q', '-m', '0', '-E', 'lazy_itable_init=1,lazy_journal_init=1', disk.image])
}

export async function attachDisk(disk: Disk): Promise<void> {
  if (disk.kind === 'directory' || (await isAttached(disk))) return
  await runProgram(['mount', '-o', 'loop', disk.image, disk.directory])
}

/**
 * True if the disk's file system is mounted. Every fault must check this first. Without the mount, the path
 * is on the disk of the machine that runs the lab, and the fault would hit that disk.
 */
export async function isAttached({ directory }: Pick<Disk, 'directory'>): Promise<boolean> {
  return (await listMountsBelow(directory)).includes(directory)
}

async function requireAttached(disk: Disk): Promise<void> {
  if (await isAttached(disk)) return
  throw new HyperkubeError('DISK_NOT_ATTACHED', `there is no disk at ${disk.directory}`)
}

/**
 * Cuts the disk's power: nothing more is written, and unsynced data is lost. Processes get I/O errors from
 * now on. The caller must end these processes before it attaches the disk again.
 */
export async function cutPower(disk: Disk): Promise<void> {
  await requireAttached(disk)
  // Calls EXT4_IOC_SHUTDOWN without flushing the log. The call is made in perl, because Node has no ioctl and
  // every Debian has perl.
  const shutdown =
    'open(my $d, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl($d, 0x8004587d, $how) or die $!'
  await runProgram(['perl', '-e', shutdown, disk.directory])
}

const fillers = ['.filler', '.filler-rest']

/** Uses all free space of the disk. */
export async function fillDisk(disk: Disk): Promise<void> {
  await requireAttached(disk)
  const [bulk = '', rest = ''] = fillers.map((name) => join(disk.directory, name))
  const { stdout } = await runProgram(['df', '--output=avail', '-B1', disk.directory])
  const available = stdout.trim().split('\n').at(-1) ?? '0'
  // Both commands end with "no space left": fallocate fills most of the disk at once, and dd uses the rest.
  await runProgram(['fallocate', '-l', available, bulk], { allowFailure: true })
  await runProgram(['dd', 'if=/dev/zero', `of=${rest}`, 'bs=4k', 'conv=fsync'], { allowFailure: true })
}

export async function emptyDisk(disk: Disk): Promise<void> {
  for (const name of fillers) await rm(join(disk.directory, name), { force: true })
}

/**
 * Limits the writes per second of a loop disk; 0 removes the limit. The limit is set on every cgroup of the
 * host. It is also set on the root cgroup of the machine that runs the lab, which is charged for the file
 * system's journal.
 */
export async function slowDisk(disk: Disk, hostId: string, writesPerSecond: number): Promise<void> {
  await requireAttached(disk)
  const root = await findBlkioMount()
  if (root === undefined) {
    throw new HyperkubeError('NO_BLKIO', 'this machine has no blkio controller of cgroup version 1', {
      hint: 'slow-disk does not work on machines with cgroup version 2 only',
    })
  }
  const hostCgroups = (await findCgroups(hostId)).filter((directory) => directory.startsWith(`${root}/`))
  const limit = `${await readDeviceNumber(disk)} ${writesPerSecond}`
  for (const directory of [root, ...hostCgroups, ...(await listDescendants(hostCgroups))]) {
    await writeFile(join(directory, 'blkio.throttle.write_iops_device'), limit)
  }
}

/**
 * Removes the write limit of a disk's loop device. Otherwise the next disk on the same device would inherit
 * the limit.
 */
export async function clearWriteLimit(disk: Pick<Disk, 'directory'>): Promise<void> {
  const root = await findBlkioMount()
  if (root === undefined || !(await isAttached(disk))) return
  await writeFile(join(root, 'blkio.throttle.write_iops_device'), `${await readDeviceNumber(disk)} 0`)
}

/** Lists the write limits in the root cgroup of the machine that runs the lab. */
export async function listWriteLimits(): Promise<string[]> {
  const root = await findBlkioMount()
  if (root === undefined) return []
  const text = await readFile(join(root, 'blkio.throttle.write_iops_device'), 'utf8')
  return text.split('\n').filter((line) => line !== '')
}

async function findBlkioMount(): Promise<string | undefined> {
  return (await readHierarchies()).find(({ controllers }) => controllers.includes('blkio'))?.mount
}

/** Returns the major and minor device number in the kernel's format. */
async function readDeviceNumber({ directory }: Pick<Disk, 'directory'>): Promise<string> {
  const { dev } = await stat(directory)
  return `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`
}

async function listDescendants(directories: readonly string[]): Promise<string[]> {
  const entries = await Promise.all(
    directories.map(async (directory) => readdir(directory, { recursive: true, withFileTypes: true })),
  )
  return entries
    .flat()
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Lists every mount at or below a path, the innermost first. */
export async function listMountsBelow(path: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')
  const targets = lines.flatMap((line) => line.split(' ')[4] ?? [])
  return targets.filter((target) => target === path || target.startsWith(`${path}/`)).toReversed()
}

export async function unmountBelow(path: string): Promise<void> {
  for (const target of await listMountsBelow(path)) await runProgram(['umount', target])
}
