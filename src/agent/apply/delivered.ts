import { join } from '../host/host-path.ts'
import { uploadedFilePath, uploadedImagePath } from '../../contract/uploads.ts'
import { parseImage } from '../../contract/image-reference.ts'
import type { Op } from '../../contract/op.ts'
import { hasCode } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { resolveAccess } from './planned-access.ts'

/**
 * Moves an uploaded file to its destination. Returns false if the file was not uploaded or had a wrong
 * digest; a wrong file is deleted.
 */
export async function moveDelivered(host: Host, sha256: string, into: string): Promise<boolean> {
  const { files, layout } = host
  const delivered = join(layout.uploads, uploadedFilePath(sha256))
  if ((await files.stat(delivered)) === undefined) return false
  if ((await files.digest(delivered)) !== sha256) {
    await files.remove(delivered)
    return false
  }
  await files.rename(delivered, into).catch(async (error: unknown) => {
    if (!hasCode(error, 'EXDEV')) throw error
    await files.copyIn(delivered, into, await resolveAccess(host, { owner: 'root', mode: '0600' }))
    await files.remove(delivered)
  })
  return true
}

/** Returns the path of an uploaded image archive; undefined if the image was not uploaded. */
export async function findDeliveredArchive(
  { files, layout }: Host,
  image: string,
): Promise<string | undefined> {
  const digest = parseImage(image)?.digest
  const archive = digest === undefined ? undefined : join(layout.uploads, uploadedImagePath(digest))
  return archive !== undefined && (await files.stat(archive)) !== undefined ? archive : undefined
}

/** Deletes uploaded files, except for images that ops of a later stage need. */
export async function deleteDelivered({ files, layout }: Host, later: readonly Op[]): Promise<void> {
  const images = later.filter(({ target, action }) => target === 'image' && action !== 'remove')
  const needed = new Set(images.map(({ name }) => uploadedImagePath(parseImage(name)?.digest ?? '')))
  if (needed.size === 0) {
    if ((await files.stat(layout.uploads)) !== undefined) await files.removeTree(layout.uploads)
    return
  }
  for (const folder of (await files.list(layout.uploads)) ?? []) {
    for (const { name } of (await files.list(join(layout.uploads, folder.name))) ?? []) {
      const path = `${folder.name}/${name}`
      if (!needed.has(path)) await files.removeTree(join(layout.uploads, path))
    }
  }
}
