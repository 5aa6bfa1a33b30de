import { link, mkdir, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type HostSnapshot, snapshotFileName } from '../../contract/host-resource.ts'
import { syncDirectory, writeNewFile } from '../../kit/files.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'

/** Snapshots that a host keeps of its own etcd member, in a directory that only root can read. */
export interface LocalSnapshots {
  readonly directory: string
  /** Lists the snapshots, oldest first. */
  list(): Promise<HostSnapshot[]>
  /** Fails if a file of this size would leave too little free disk space for etcd. */
  requireSpace(size: number): Promise<void>
  /** Stores a snapshot. The file gets its final name only after `verify` has accepted it. */
  save(name: string, bytes: AsyncIterable<Uint8Array>, verify: (file: string) => Promise<void>): Promise<void>
  /** Removes snapshots and returns the names of those that existed. Invalid snapshot names are ignored. */
  remove(names: readonly string[]): Promise<readonly string[]>
}

/** Minimum share of the disk that stays free. Probes report a problem at half of this share. */
const minFreeShare = 0.1

/** Suffix of incomplete files. Their names also start with a dot, unlike snapshot names. */
const partialSuffix = '.part'

export function openLocalSnapshots(directory: string): LocalSnapshots {
  const toPath = (name: string): string => join(directory, name)
  return {
    directory,
    async list() {
      const names = (await listNames(directory)).filter((name) => snapshotFileName.safeParse(name).success)
      const all = await Promise.all(names.map(async (name) => readSnapshotFile(name, toPath(name))))
      return all.flat().toSorted((a, b) => (a.takenAt < b.takenAt ? -1 : 1))
    },
    async requireSpace(size) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const { bsize, blocks, bavail } = await statfs(directory)
      if (bavail * bsize - size < blocks * bsize * minFreeShare) throw noSpaceError(directory, size)
    },
    async save(name, bytes, verify) {
      const file = toPath(`.${name}${partialSuffix}`)
      await mkdir(directory, { recursive: true, mode: 0o700 })
      // Deletes incomplete files that an interrupted agent left. Snapshots are taken one at a time, so these
      // files are not in use.
      for (const leftover of await listNames(directory))
        if (isPartial(leftover)) await rm(toPath(leftover), { force: true })
      try {
        await writeNewFile(file, bytes)
        await verify(file)
        // Unlike a rename, a link never replaces an existing file.
        await link(file, toPath(name))
      } finally {
        await rm(file, { force: true })
      }
      await syncDirectory(directory)
    },
    async remove(names) {
      const existing = new Set(await listNames(directory))
      const removed = names.filter((name) => snapshotFileName.safeParse(name).success && existing.has(name))
      for (const name of removed) await rm(toPath(name))
      if (removed.length > 0) await syncDirectory(directory)
      return removed
    },
  }
}

function isPartial(name: string): boolean {
  return name.startsWith('.') && name.endsWith(partialSuffix)
}

/**
 * Reads the metadata of a snapshot file. Returns an empty list if the path no longer exists or is not a file.
 */
async function readSnapshotFile(name: string, path: string): Promise<HostSnapshot[]> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || !found.isFile()) return []
  return [{ name, takenAt: found.mtime.toISOString(), size: found.size }]
}

async function listNames(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
}

function noSpaceError(directory: string, size: number): HyperkubeError {
  const message = `${directory} has no disk space for a snapshot of ${Math.ceil(size / 2 ** 20)} MiB`
  return new HyperkubeError('SNAPSHOT_NO_ROOM', message, {
    component: 'etcd',
    hint: `free disk space on the host: df -h ${directory}; 10 % of the disk stays reserved for etcd`,
  })
}
