import type { KeyObject } from 'node:crypto'
import { readBundleHeader, verifyDigest } from './archive.ts'
import type { BundleManifest, BundleMember } from './manifest.ts'
import { ByteReader, tarEntrySize, tarHeader } from './tar.ts'

/** A file that can be read at any position. */
export interface RandomAccess extends AsyncDisposable {
  /** Reads `size` bytes at a position. Returns fewer bytes at the end of the file. */
  read(position: number, size: number): Promise<Uint8Array>
}

/** A bundle whose files can be read in any order. */
export interface OpenBundle {
  readonly manifest: BundleManifest
  /** Streams the content of a file. Throws at the end if the content does not match its digest. */
  content(member: BundleMember): AsyncIterable<Uint8Array>
}

/** Bytes to read at a time. */
const pieceSize = 256 << 10

/** Opens a bundle and reads only its manifest. Each file is verified when it is read. */
export async function openBundle(file: RandomAccess, key?: KeyObject): Promise<OpenBundle> {
  const { manifest, size } = await readBundleHeader(new ByteReader(readPieces(file, 0, Infinity)), key)
  const offsets = new Map<string, number>()
  manifest.members.reduce((at, member) => {
    offsets.set(member.path, at + tarHeader(member.path, member.size).length)
    return at + tarEntrySize(member.size)
  }, size)
  return {
    manifest,
    content: (member) => verifyDigest(member, readPieces(file, offsets.get(member.path) ?? 0, member.size)),
  }
}

async function* readPieces(file: RandomAccess, from: number, size: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < from + size;) {
    const piece = await file.read(at, Math.min(pieceSize, from + size - at))
    if (piece.length === 0) return
    at += piece.length
    yield piece
  }
}
