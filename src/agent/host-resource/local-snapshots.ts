import { link, mkdir, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type HostSnapshot, snapshotFile } from '../../contract/host-resource.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { syncDirectory } from '../../kit/atomic-file.ts'
import { writeNew } from '../../snapshot/file-bytes.ts'

/** Snapshots that a host keeps of its own member of etcd, in a directory for root alone. */
export interface SnapshotShelf {
  readonly directory: string
  /** The oldest first. */
  list(): Promise<HostSnapshot[]>
  /** Fails where a file of this size would leave too little of the disk for etcd itself. */
  makeSure(size: number): Promise<void>
  /** It bears its name only once it is there as a whole and `prove` has found it good. */
  put(name: string, bytes: AsyncIterable<Uint8Array>, prove: (file: string) => Promise<void>): Promise<void>
  /** Answers with those that were there. Of names that no snapshot may have, nothing is touched. */
  remove(names: readonly string[]): Promise<readonly string[]>
}

/** Of the disk, so much stays free: probes complain at half of it. */
const leastFree = 0.1

/** Ends the names of what is not whole yet; before them is a dot, which no snapshot's name begins with. */
const part = '.part'

export function snapshotShelf(directory: string): SnapshotShelf {
  const at = (name: string): string => join(directory, name)
  return {
    directory,
    async list() {
      const names = (await entries(directory)).filter((name) => snapshotFile.safeParse(name).success)
      const all = await Promise.all(names.map(async (name) => facts(name, at(name))))
      return all.flat().toSorted((a, b) => (a.taken < b.taken ? -1 : 1))
    },
    async makeSure(size) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const { bsize, blocks, bavail } = await statfs(directory)
      if (bavail * bsize - size < blocks * bsize * leastFree) throw full(directory, size)
    },
    async put(name, bytes, prove) {
      const file = at(`.${name}${part}`)
      await mkdir(directory, { recursive: true, mode: 0o700 })
      // Whoever was cut has left some: one is taken at a time.
      for (const left of await entries(directory)) if (isPart(left)) await rm(at(left), { force: true })
      try {
        await writeNew(file, bytes)
        await prove(file)
        // Unlike a rename, a link never takes the place of another file.
        await link(file, at(name))
      } finally {
        await rm(file, { force: true })
      }
      await syncDirectory(directory)
    },
    async remove(names) {
      const there = new Set(await entries(directory))
      const gone = names.filter((name) => snapshotFile.safeParse(name).success && there.has(name))
      for (const name of gone) await rm(at(name))
      if (gone.length > 0) await syncDirectory(directory)
      return gone
    },
  }
}

function isPart(name: string): boolean {
  return name.startsWith('.') && name.endsWith(part)
}

/** Nothing where it has gone meanwhile, or is no file. */
async function facts(name: string, path: string): Promise<HostSnapshot[]> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || !found.isFile()) return []
  return [{ name, taken: found.mtime.toISOString(), size: found.size }]
}

async function entries(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
}

function full(directory: string, size: number): HyperkubeError {
  const message = `${directory} has no room for a snapshot of ${Math.ceil(size / 2 ** 20)} MiB`
  return new HyperkubeError('SNAPSHOT_NO_ROOM', message, {
    component: 'etcd',
    hint: `on the host: df -h ${directory}, and make room; a tenth of the disk stays free for etcd`,
  })
}
