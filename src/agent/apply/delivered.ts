import { join } from '../host/host-path.ts'
import { deliveredFile, deliveredImage } from '../../contract/uploads.ts'
import { parseImage } from '../../contract/image-reference.ts'
import type { Op } from '../../contract/op.ts'
import { hasCode } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { accessOf } from './planned-access.ts'

/** Puts a file that was brought to the host in a place of ours, if there is one and it is what it should be. */
export async function takeDelivered(host: Host, sha256: string, into: string): Promise<boolean> {
  const { files, layout } = host
  const brought = join(layout.delivered, deliveredFile(sha256))
  if ((await files.stat(brought)) === undefined) return false
  if ((await files.digest(brought)) !== sha256) {
    await files.remove(brought)
    return false
  }
  await files.rename(brought, into).catch(async (error: unknown) => {
    if (!hasCode(error, 'EXDEV')) throw error
    await files.copyIn(brought, into, await accessOf(host, { owner: 'root', mode: '0600' }))
    await files.remove(brought)
  })
  return true
}

/** Where the archive of an image is that was brought to the host; nothing when none was. */
export async function deliveredArchive({ files, layout }: Host, image: string): Promise<string | undefined> {
  const digest = parseImage(image)?.digest
  const archive = digest === undefined ? undefined : join(layout.delivered, deliveredImage(digest))
  return archive !== undefined && (await files.stat(archive)) !== undefined ? archive : undefined
}

/** Takes away what was brought to the host, but for images of ops whose stage is still to come. */
export async function clearDelivered({ files, layout }: Host, later: readonly Op[]): Promise<void> {
  const images = later.filter(({ target, action }) => target === 'image' && action !== 'remove')
  const wanted = new Set(images.map(({ name }) => deliveredImage(parseImage(name)?.digest ?? '')))
  if (wanted.size === 0) {
    if ((await files.stat(layout.delivered)) !== undefined) await files.removeTree(layout.delivered)
    return
  }
  for (const folder of (await files.list(layout.delivered)) ?? []) {
    for (const { name } of (await files.list(join(layout.delivered, folder.name))) ?? []) {
      const path = `${folder.name}/${name}`
      if (!wanted.has(path)) await files.removeTree(join(layout.delivered, path))
    }
  }
}
