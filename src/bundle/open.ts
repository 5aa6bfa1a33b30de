import type { KeyObject } from 'node:crypto'
import { ByteReader } from './byte-reader.ts'
import { readFront } from './archive-header.ts'
import type { BundleManifest, Member } from './manifest.ts'
import { proven } from './verify-digest.ts'
import { tarHeader, tarSpace } from './tar.ts'

/** A file that can be read anywhere. */
export interface RandomAccess extends AsyncDisposable {
  /** So many bytes from a place on; fewer where it ends. */
  read(position: number, size: number): Promise<Uint8Array>
}

/** A bundle that files are taken out of, one here and one there. */
export interface OpenBundle {
  readonly manifest: BundleManifest
  /** Fails at its end when it is not what the bundle says that it is. */
  content(member: Member): AsyncIterable<Uint8Array>
}

/** In bytes. */
const pieceSize = 256 << 10

/** Reads what is in it. Its files are looked at only when somebody takes them. */
export async function openBundle(file: RandomAccess, key?: KeyObject): Promise<OpenBundle> {
  const { manifest, size } = await readFront(new ByteReader(pieces(file, 0, Infinity)), key)
  const places = new Map<string, number>()
  manifest.members.reduce((at, member) => {
    places.set(member.path, at + tarHeader(member.path, member.size).length)
    return at + tarSpace(member.size)
  }, size)
  return {
    manifest,
    content: (member) => proven(member, pieces(file, places.get(member.path) ?? 0, member.size)),
  }
}

async function* pieces(file: RandomAccess, from: number, size: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < from + size;) {
    const piece = await file.read(at, Math.min(pieceSize, from + size - at))
    if (piece.length === 0) return
    at += piece.length
    yield piece
  }
}
