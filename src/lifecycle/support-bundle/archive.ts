import { createHash } from 'node:crypto'
import { tarEnd, tarFile } from '../../bundle/tar.ts'
import type { SupportManifest } from './manifest.ts'
import { isFile, type LeftOut, type Piece } from './support-entry.ts'

/** Everything is below it, so that whoever unpacks a bundle finds one directory. */
const folder = 'support'

export interface Contents {
  readonly files: SupportManifest['files']
  readonly leftOut: readonly LeftOut[]
}

/**
 * A tar archive of all that comes. Nothing has to be kept in memory, so the manifest, which says what came, is the last
 * file of it.
 */
export async function* supportArchive(
  pieces: AsyncIterable<Piece>,
  manifestOf: (contents: Contents) => SupportManifest,
): AsyncGenerator<Uint8Array> {
  const files: SupportManifest['files'] = []
  const leftOut: LeftOut[] = []
  for await (const piece of pieces) {
    if (!isFile(piece)) {
      leftOut.push(piece)
      continue
    }
    const content = Buffer.from(piece.text)
    const sha256 = createHash('sha256').update(content).digest('hex')
    files.push({ path: piece.path, size: content.length, sha256 })
    yield* tarFile(`${folder}/${piece.path}`, content)
  }
  const manifest = manifestOf({ files, leftOut })
  yield* tarFile(`${folder}/manifest.json`, Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`))
  yield tarEnd
}
