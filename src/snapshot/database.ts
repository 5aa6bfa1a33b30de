import { createHash } from 'node:crypto'
import type { DatabasePiece } from '../etcd/database-pieces.ts'
import { HyperkubeError } from '../kit/errors.ts'

/** Size of etcd's own digest at the end of a database, in bytes. */
const digestSize = 32
/** Block size in bytes. The size of a database without its digest is a multiple of the block size. */
const blockSize = 512
/** Maximum size of a file in a tar archive, in bytes. etcd recommends smaller databases anyway. */
const maxDatabaseBytes = 8 ** 11 - 1

/**
 * Yields the bytes of a database as etcd sends them. Fails at the end if the digest in the last bytes does
 * not match.
 */
export async function* streamDatabase(
  pieces: AsyncIterable<DatabasePiece>,
  progress: (done: number, total: number) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  // The last bytes received so far. They may be the digest or a part of it.
  let tail: Buffer = Buffer.of()
  let done = 0
  for await (const { bytes, remaining } of pieces) {
    done += bytes.length
    if (done + remaining > maxDatabaseBytes) throw buildTooLargeError(done + remaining)
    progress(done, done + remaining)
    const buffered = Buffer.concat([tail, bytes])
    const end = Math.max(0, buffered.length - digestSize)
    tail = buffered.subarray(end)
    hash.update(buffered.subarray(0, end))
    yield bytes
  }
  if (done % blockSize !== digestSize || !hash.digest().equals(tail)) {
    throw new HyperkubeError('SNAPSHOT_NOT_WHOLE', 'the etcd database was not received completely', {
      component: 'etcd',
      hint: 'run the same command again',
    })
  }
}

function buildTooLargeError(size: number): HyperkubeError {
  return new HyperkubeError('SNAPSHOT_TOO_LARGE', `the etcd database of ${size} bytes is too large`, {
    component: 'etcd',
    hint: 'check the sizes: hyperkube etcd status; delete unneeded objects, then compact and defragment each member with etcdctl',
  })
}
