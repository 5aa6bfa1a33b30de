import { win32 } from 'node:path'
import type { HostCallResponse, HostCallBody } from '../../../contract/host-call.ts'
import { unfinishedUploadSuffix } from '../../../contract/windows-paths.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { makeAdminOnlyDirectory, readHostDigest, readHostFileSize } from './host-files.ts'
import { digestMismatchError } from './install.ts'
import type { HostCallContext } from './host-call-context.ts'

type RequestFor<T extends HostCallBody['type']> = Extract<HostCallBody, { type: T }>

/** Renames an uploaded file to its target if its size and digest are correct. */
export async function acceptUpload(
  { host, paths }: HostCallContext,
  { temporary, target, size, sha256 }: RequestFor<'take'>,
): Promise<HostCallResponse['body']> {
  const { files } = host
  for (const path of [temporary, target]) rejectOutside(paths.base, path)
  const [length, found] = [await readHostFileSize(files, temporary), await readHostDigest(files, temporary)]
  if (length !== size || found !== sha256) {
    await files.remove(temporary)
    throw digestMismatchError(target, sha256, found ?? 'that of nothing')
  }
  await files.setAccess(temporary, { uid: 0, gid: 0, mode: 0o600 })
  // Flush the file to disk, because the uploader cannot do this.
  await files.syncTree(win32.dirname(temporary))
  await files.rename(temporary, target)
  return { type: 'done' }
}

/** Creates the upload directories and lists their files. A file with its final name is complete. */
export async function listDeliveries(
  { host, paths }: HostCallContext,
  { folders }: RequestFor<'uploads'>,
): Promise<HostCallResponse['body']> {
  const { files } = host
  const found: { path: string; size: number }[] = []
  for (const folder of folders) {
    const directory = win32.join(paths.uploads, folder)
    await makeAdminOnlyDirectory(files, directory)
    const entries = (await files.list(directory)) ?? []
    for (const { name } of entries.filter((one) => !one.name.endsWith(unfinishedUploadSuffix))) {
      const size = await readHostFileSize(files, win32.join(directory, name))
      if (size !== undefined) found.push({ path: `${folder}/${name}`, size })
    }
  }
  return { type: 'uploads', files: found }
}

/**
 * Rejects paths outside `base`. Callers are administrators, so this only guards against bugs of hyperkube.
 */
function rejectOutside(base: string, path: string): void {
  const below = win32.relative(base, path)
  if (below !== '' && !below.startsWith('..') && !win32.isAbsolute(below)) return
  throw new HyperkubeError('UPLOAD_FAILED', `${path} is not below ${base}`)
}
