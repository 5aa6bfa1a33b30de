import { createHash } from 'node:crypto'
import { tarEnd, tarFile } from '../../bundle/tar.ts'
import type { SupportManifest } from './manifest.ts'
import { isSupportFile, type OmittedEntry, type SupportEntry } from './support-entry.ts'

/** Root directory of the archive, so that unpacking creates a single directory. */
const rootDirectory = 'support'

export interface SupportContents {
  readonly files: SupportManifest['files']
  readonly omitted: readonly OmittedEntry[]
}

/**
 * Streams a tar archive of all entries. Entries are not buffered, so the manifest, which lists them, is the
 * last file.
 */
export async function* streamSupportArchive(
  entries: AsyncIterable<SupportEntry>,
  buildManifest: (contents: SupportContents) => SupportManifest,
): AsyncGenerator<Uint8Array> {
  const files: SupportManifest['files'] = []
  const omitted: OmittedEntry[] = []
  for await (const entry of entries) {
    if (!isSupportFile(entry)) {
      omitted.push(entry)
      continue
    }
    const content = Buffer.from(entry.text)
    const sha256 = createHash('sha256').update(content).digest('hex')
    files.push({ path: entry.path, size: content.length, sha256 })
    yield* tarFile(`${rootDirectory}/${entry.path}`, content)
  }
  const manifest = buildManifest({ files, omitted })
  yield* tarFile(`${rootDirectory}/manifest.json`, Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`))
  yield tarEnd
}
