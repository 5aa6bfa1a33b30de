import { createHash } from 'node:crypto'
import { z } from 'zod'

/**
 * Table of the executables of one release that hosts can run. Every executable of the release contains the
 * same table, so an operator on any platform can verify the executable for a host.
 *
 * An executable cannot contain its own digest. Therefore each digest is computed as if the table were blank,
 * and a file is accepted only if it also contains the same table.
 */
const releaseTableSchema = z.strictObject({
  /** Directory of the release on the web. */
  url: z.url().optional(),
  /** Public key of minisign that signs the checksums of releases. */
  publicKey: z.string().optional(),
  /** By file name. */
  files: z.record(
    z.string(),
    z.strictObject({
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      /** Position of the table in the file. */
      offset: z.int(),
      size: z.int(),
    }),
  ),
})
export type ReleaseTable = z.infer<typeof releaseTableSchema>

/** Size of the table in an executable. The rest of the table is filled with spaces. */
export const tableBytes = 1024
/** Name of the asset in an executable, and of the file beside a bundle. */
export const tableAsset = 'release-table'

/** Bytes before the table. The build script finds the table by them. */
export const tableMagic = Buffer.from('9d1f7bc0a45e4e0c8e07c1f5b1d6a2e3', 'hex')

export function createBlankTable(): Buffer {
  return Buffer.concat([tableMagic, Buffer.alloc(tableBytes, ' ')])
}

/** Encodes the table without its magic bytes. */
export function encodeTable(table: ReleaseTable): Buffer {
  const text = JSON.stringify(table)
  if (text.length > tableBytes) throw new Error(`the release table has ${text.length} bytes`)
  return Buffer.from(text.padEnd(tableBytes), 'latin1')
}

/** Decodes an asset. Returns undefined if the table is blank, as in an executable for tests. */
export function decodeTable(asset: Uint8Array): ReleaseTable | undefined {
  const text = Buffer.from(asset).subarray(tableMagic.length).toString('latin1').trim()
  return text === '' ? undefined : releaseTableSchema.parse(JSON.parse(text))
}

/** Result of `hashWithoutTable`. */
export interface TableObservation {
  /** SHA-256 of the content with a blank table. */
  readonly sha256: string
  readonly size: number
  /** Bytes of the table in the content. */
  readonly table: Buffer
}

/** Computes the digest of an executable whose table is at `offset`. */
export async function hashWithoutTable(
  content: AsyncIterable<Uint8Array>,
  offset: number,
): Promise<TableObservation> {
  const hash = createHash('sha256')
  const table = Buffer.alloc(tableBytes)
  let size = 0
  for await (const chunk of content) {
    const start = Math.min(Math.max(offset - size, 0), chunk.length)
    const end = Math.min(Math.max(offset + tableBytes - size, 0), chunk.length)
    hash.update(chunk.subarray(0, start))
    if (end > start) {
      table.set(chunk.subarray(start, end), size + start - offset)
      hash.update(Buffer.alloc(end - start, ' '))
    }
    hash.update(chunk.subarray(end))
    size += chunk.length
  }
  return { sha256: hash.digest('hex'), size, table }
}

/** True if the content is the named executable of the same release as the table. */
export async function isOfRelease(
  content: AsyncIterable<Uint8Array>,
  name: string,
  release: ReleaseTable,
): Promise<boolean> {
  const expected = release.files[name]
  if (expected === undefined) return false
  const { sha256, size, table } = await hashWithoutTable(content, expected.offset)
  return sha256 === expected.sha256 && size === expected.size && table.equals(encodeTable(release))
}
