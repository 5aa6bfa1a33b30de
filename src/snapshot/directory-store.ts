import { link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { syncDirectory } from '../kit/atomic-file.ts'
import { snapshotName } from './name.ts'
import { fileBytes, writeNew } from './file-bytes.ts'
import type { SnapshotStore, StoredSnapshot } from './store.ts'

/** Snapshots in a directory for their owner alone. It is made when the first one comes. */
export function directoryStore(directory: string): SnapshotStore {
  const at = (name: string): string => join(directory, name)
  return {
    title: directory,
    put: async (name, file) =>
      naming(directory, async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 })
        await publish(file, at(name))
        await syncDirectory(directory)
      }),
    list: async () =>
      naming(directory, async () => {
        const names = (await readdir(directory).catch(none)).filter(
          (name) => snapshotName.safeParse(name).success,
        )
        return Promise.all(names.toSorted().map(async (name) => stored(name, at(name))))
      }),
    async *read(name, signal) {
      try {
        yield* fileBytes(at(name), signal)
      } catch (error) {
        signal.throwIfAborted()
        throw named(directory, error)
      }
    },
    remove: async (name) =>
      naming(directory, async () => {
        await rm(at(name), { force: true })
        await syncDirectory(directory)
      }),
  }
}

/** A name for a file that was made here. From another disk it is copied first. */
async function publish(file: string, path: string): Promise<void> {
  try {
    // Unlike a rename, a link never takes the place of another file.
    await link(file, path)
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error
    const near = join(path, '..', `.${process.pid}.new`)
    try {
      await writeNew(near, fileBytes(file))
      await link(near, path)
    } finally {
      await rm(near, { force: true })
    }
  }
}

async function stored(name: string, path: string): Promise<StoredSnapshot> {
  const { size, mtime } = await stat(path)
  return { name, size, modified: mtime }
}

/** A directory that is not there yet has nothing in it. */
function none(error: unknown): string[] {
  if (hasCode(error, 'ENOENT')) return []
  throw error
}

async function naming<T>(directory: string, act: () => Promise<T>): Promise<T> {
  return act().catch((error: unknown) => {
    throw named(directory, error)
  })
}

/** What the disk says becomes an error that names the store. */
function named(directory: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_STORE_FAILED', `${directory} does not do as a place for snapshots`, {
    hint: `look at ls -ld ${directory} and df ${directory}`,
    cause,
  })
}
