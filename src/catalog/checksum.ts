/**
 * How upstream writes a checksum file. `bare`: the digest alone; `lines`: as sha256sum writes it, one line for each file,
 * with or without the star that it puts before the names of binary files.
 */
export type ChecksumFormat = 'bare' | 'lines'

export type ReadChecksum =
  | { readonly ok: true; readonly sha256: string }
  | { readonly ok: false; readonly reason: string }

/** No checksum file is longer, in bytes; what is longer is something else. */
export const largestChecksumFile = 100_000

const bareDigest = /^[0-9a-f]{64}$/i
const digestLine = /^([0-9a-f]{64}) [ *](.+)$/i

/** The digest that a checksum file gives for a file, by the name that stands in it. */
export function readChecksum(text: string, format: ChecksumFormat, name: string): ReadChecksum {
  if (text.length > largestChecksumFile) return { ok: false, reason: 'is too long for a checksum file' }
  if (text.trim() === '') return { ok: false, reason: 'is empty' }
  return format === 'bare' ? readBare(text) : readLines(text, name)
}

function readBare(text: string): ReadChecksum {
  const digest = text.trim()
  return bareDigest.test(digest)
    ? { ok: true, sha256: digest.toLowerCase() }
    : { ok: false, reason: 'is not a sha256 digest' }
}

/** Lines of another kind are passed over, because runc’s carries its signature inside itself. */
function readLines(text: string, name: string): ReadChecksum {
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const [, digest, itsName] = digestLine.exec(line) ?? []
    return digest === undefined ? [] : [{ digest: digest.toLowerCase(), name: itsName }]
  })
  if (lines.length === 0) return { ok: false, reason: 'has no line with a sha256 digest' }
  const digests = new Set(lines.filter((line) => line.name === name).map(({ digest }) => digest))
  const [sha256] = digests
  if (sha256 === undefined) return { ok: false, reason: `does not name ${name}` }
  return digests.size === 1
    ? { ok: true, sha256 }
    : { ok: false, reason: `gives ${name} more than one digest` }
}
