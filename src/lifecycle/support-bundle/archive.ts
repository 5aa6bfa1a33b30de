import { createHash } from 'node:crypto'
import { z } from 'zod'
import { tarEnd, tarFile } from '../../bundle/tar.ts'
import type { Format } from '../../contract/versioned.ts'

const manifestSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('SupportBundle'),
  cluster: z.string(),
  created: z.iso.datetime(),
  /** The hyperkube version that created the bundle. */
  hyperkube: z.string(),
  /** All hosts. `reason` is set if a host was not reached. */
  hosts: z.array(z.strictObject({ host: z.string(), reason: z.string().optional() })),
  files: z.array(
    z.strictObject({ path: z.string(), size: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
  /** Entries that could not be collected, each with the reason. */
  omitted: z.array(z.strictObject({ item: z.string(), reason: z.string() })),
  /**
   * Kinds of data that a support bundle never contains. People who share a bundle can read here what it does
   * not reveal.
   */
  excluded: z.array(z.string()),
})
export type SupportManifest = z.infer<typeof manifestSchema>

export const supportManifestFormat: Format<SupportManifest> = {
  kind: 'SupportBundle',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifestSchema },
  older: [],
}

export const excludedContents: readonly string[] = [
  'Secrets and ConfigMaps: they are not requested',
  'kubeconfigs, private keys, cluster.identity and its key: they are not read',
  'commands, environments and volumes of pods',
  'contents of your own files on hosts',
  'secrets of the identity, and private keys, tokens and passwords found in texts: replaced by [removed]',
]

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

/** One file of a support bundle. */
export interface SupportFile {
  readonly path: string
  readonly text: string
}

/** An entry that could not be collected, with the reason. */
interface OmittedEntry {
  readonly item: string
  readonly reason: string
}

export type SupportEntry = SupportFile | OmittedEntry

export function isSupportFile(entry: SupportEntry): entry is SupportFile {
  return 'path' in entry
}

/** Reads one file, or returns the reason why it is missing. Throws only if aborted. */
export async function tryCollect(
  path: string,
  signal: AbortSignal,
  read: () => Promise<string>,
  formatReason: (error: unknown) => string,
): Promise<SupportEntry> {
  try {
    return { path, text: await read() }
  } catch (error) {
    signal.throwIfAborted()
    return { item: path, reason: formatReason(error) }
  }
}
