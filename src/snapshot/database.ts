import { createHash } from 'node:crypto'
import type { DatabasePiece } from '../etcd/database-pieces.ts'
import { HyperkubeError } from '../kit/errors.ts'

/** Of etcd's own digest at the end of a database, in bytes. */
const digestSize = 32
/** A database is made of blocks of this size, in bytes. */
const block = 512
/** What fits into a file of an archive, in bytes. etcd itself advises against more. */
const largest = 8 ** 11 - 1

/** The bytes of a database as they come; they end with an error when the digest at their end is not theirs. */
export async function* databaseBytes(
  pieces: AsyncIterable<DatabasePiece>,
  progress: (done: number, total: number) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  // What came last may be the digest, or the end of it.
  let held: Buffer = Buffer.of()
  let done = 0
  for await (const { bytes, remaining } of pieces) {
    done += bytes.length
    if (done + remaining > largest) throw tooLarge(done + remaining)
    progress(done, done + remaining)
    const known = Buffer.concat([held, bytes])
    const end = Math.max(0, known.length - digestSize)
    held = known.subarray(end)
    hash.update(known.subarray(0, end))
    yield bytes
  }
  if (done % block !== digestSize || !hash.digest().equals(held)) {
    throw new HyperkubeError('SNAPSHOT_NOT_WHOLE', 'etcd’s database has not come as a whole', {
      component: 'etcd',
      hint: 'the same command again',
    })
  }
}

function tooLarge(size: number): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_TOO_LARGE', `etcd’s database of ${size} bytes is too large`, {
    component: 'etcd',
    hint: 'hyperkube etcd status; find what fills it, then etcdctl compact and etcdctl defrag on each member',
  })
}
