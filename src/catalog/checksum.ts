/**
 * Format of a checksum file. `bare`: only the digest. `lines`: output of sha256sum with one line per file.
 */
export type ChecksumFormat = 'bare' | 'lines'

export type ReadChecksumResult =
  | { readonly ok: true; readonly sha256: string }
  | { readonly ok: false; readonly reason: string }

/** Maximum size of a checksum file in bytes. A larger file is not a checksum file. */
export const maxChecksumFileBytes = 100_000

const bareDigest = /^[0-9a-f]{64}$/i
const digestLine = /^([0-9a-f]{64}) [ *](.+)$/i

/** Reads the digest of a file from a checksum file. `name` is the file name. */
export function readChecksum(text: string, format: ChecksumFormat, name: string): ReadChecksumResult {
  if (text.length > maxChecksumFileBytes) return { ok: false, reason: 'is too long for a checksum file' }
  if (text.trim() === '') return { ok: false, reason: 'is empty' }
  return format === 'bare' ? readBare(text) : readLines(text, name)
}

function readBare(text: string): ReadChecksumResult {
  const digest = text.trim()
  return bareDigest.test(digest)
    ? { ok: true, sha256: digest.toLowerCase() }
    : { ok: false, reason: 'is not a sha256 digest' }
}

/**
 * Reads the output of sha256sum. Other lines are skipped, because runc's checksum file also contains a
 * signature.
 */
function readLines(text: string, name: string): ReadChecksumResult {
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const [, digest, fileName] = digestLine.exec(line) ?? []
    return digest === undefined ? [] : [{ digest: digest.toLowerCase(), name: fileName }]
  })
  if (lines.length === 0) return { ok: false, reason: 'has no line with a sha256 digest' }
  const digests = new Set(lines.filter((line) => line.name === name).map(({ digest }) => digest))
  const [sha256] = digests
  if (sha256 === undefined) return { ok: false, reason: `has no line for ${name}` }
  return digests.size === 1
    ? { ok: true, sha256 }
    : { ok: false, reason: `has more than one digest for ${name}` }
}
