import { link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { readFileBytes, syncDirectory, writeNewFile } from '../kit/files.ts'
import { snapshotName, type SnapshotStore, type StoredSnapshot } from './store.ts'

/** Creates a store in a private directory. The directory is created with the first snapshot. */
export function createDirectoryStore(directory: string): SnapshotStore {
  const toPath = (name: string): string => join(directory, name)
  return {
    title: directory,
    put: async (name, file) =>
      withStoreError(directory, async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 })
        await linkFile(file, toPath(name))
        await syncDirectory(directory)
      }),
    list: async () =>
      withStoreError(directory, async () => {
        const names = (await readdir(directory).catch(emptyIfMissing)).filter(
          (name) => snapshotName.safeParse(name).success,
        )
        return Promise.all(names.toSorted().map(async (name) => readStored(name, toPath(name))))
      }),
    async *read(name, signal) {
      try {
        yield* readFileBytes(toPath(name), signal)
      } catch (error) {
        signal.throwIfAborted()
        throw toStoreError(directory, error)
      }
    },
    remove: async (name) =>
      withStoreError(directory, async () => {
        await rm(toPath(name), { force: true })
        await syncDirectory(directory)
      }),
  }
}

/** Creates a hard link `path` to a local file. A file on another file system is copied first. */
async function linkFile(file: string, path: string): Promise<void> {
  try {
    // Unlike rename, link never replaces an existing file.
    await link(file, path)
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error
    const temporaryPath = join(path, '..', `.${process.pid}.new`)
    try {
      await writeNewFile(temporaryPath, readFileBytes(file))
      await link(temporaryPath, path)
    } finally {
      await rm(temporaryPath, { force: true })
    }
  }
}

async function readStored(name: string, path: string): Promise<StoredSnapshot> {
  const { size, mtime } = await stat(path)
  return { name, size, modified: mtime }
}

/** Treats a missing directory as an empty one. */
function emptyIfMissing(error: unknown): string[] {
  if (hasCode(error, 'ENOENT')) return []
  throw error
}

async function withStoreError<T>(directory: string, action: () => Promise<T>): Promise<T> {
  return action().catch((error: unknown) => {
    throw toStoreError(directory, error)
  })
}

/** Wraps a disk error in an error that names the store. */
function toStoreError(directory: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_STORE_FAILED', `cannot use ${directory} for snapshots`, {
    hint: `check the directory: ls -ld ${directory}; df ${directory}`,
    cause,
  })
}
