import { link, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { contentPath, tagPath } from './registry-paths.ts'

export interface LayoutDigests {
  readonly manifest: string
  readonly blobs: readonly string[]
}

/** Moves the blobs of an image layout to the paths that registry clients request, below `root`. */
export async function moveToRegistry(
  image: string,
  layout: string,
  digests: LayoutDigests,
  root: string,
): Promise<void> {
  const move = async (digest: string, path: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await rename(join(layout, 'blobs', digest.replace(':', '/')), join(root, path))
  }
  for (const digest of digests.blobs) await move(digest, contentPath(image, 'blobs', digest))
  const manifest = contentPath(image, 'manifests', digests.manifest)
  await move(digests.manifest, manifest)
  await link(join(root, manifest), join(root, tagPath(image)))
}
