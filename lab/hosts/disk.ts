import { mkdir, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'
import { exists } from '../../src/kit/files.ts'
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
  if (disk.kind === 'directory' || (await isMounted(disk.directory))) return
  await run(['mount', '-o', 'loop', disk.image, disk.directory])
}

/**
 * Cuts the disk's power: nothing more reaches it, and what was not synced is lost. Its processes see I/O
 * errors from here on; end them, then attach the disk anew.
 */
export async function cutPower(disk: Disk): Promise<void> {
  // EXT4_IOC_SHUTDOWN with "do not flush the log"; Node has no ioctl, and perl is on every Debian.
  const shutdown =
    'open(my $d, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl($d, 0x8004587d, $how) or die $!'
  await run(['perl', '-e', shutdown, disk.directory])
}

const fillers = ['.filler', '.filler-rest']

/** Takes all the room there is. */
export async function fillDisk(disk: Disk): Promise<void> {
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
  const { dev } = await stat(disk.directory)
  const device = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`
  const blkio = (await hierarchies()).find(({ controllers }) => controllers.includes('blkio'))
  if (blkio === undefined) throw new Error('this machine has no blkio controller')
  const own = (await findCgroups(mark)).filter((directory) => directory.startsWith(`${blkio.mount}/`))
  const { stdout } = await run(['find', ...own, '-type', 'd'])
  for (const directory of [blkio.mount, ...stdout.trim().split('\n')]) {
    await writeFile(join(directory, 'blkio.throttle.write_iops_device'), `${device} ${writesPerSecond}`)
  }
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

async function isMounted(path: string): Promise<boolean> {
  return (await exists(path)) && (await mountsBelow(path)).includes(path)
}
