import { snapshotLine } from './responses.ts'
import { EtcdError, jsonOf } from './etcd-error.ts'
import { printable } from '../kit/printable.ts'

export interface DatabasePiece {
  readonly bytes: Buffer
  /** How many are still to come, without those of the digest at the end. */
  readonly remaining: number
}

/** etcd sends 32 KiB at a time; no line is ever near it. */
const longest = 1 << 20

/** The database out of an answer with a document in each line. No more than a line of it is in memory. */
export async function* databasePieces(
  chunks: AsyncIterable<Uint8Array>,
  endpoint: string,
): AsyncGenerator<DatabasePiece> {
  let left: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      yield pieceIn(Buffer.concat([...left, chunk.subarray(from, end)]), endpoint)
      ;[left, size, from] = [[], 0, end + 1]
    }
    left.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > longest) throw strange(endpoint, 'a line of it does not end')
  }
  if (size > 0) throw strange(endpoint, 'it ends within a line')
}

const newline = 10

function pieceIn(line: Buffer, endpoint: string): DatabasePiece {
  const parsed = snapshotLine.safeParse(jsonOf(line.toString('utf8')))
  if (!parsed.success) throw strange(endpoint, 'a line of it is not what it should be')
  if ('error' in parsed.data) {
    const words = printable(parsed.data.error.message.slice(0, 500))
    throw new EtcdError('ETCD_UNAVAILABLE', `${path}: ${endpoint}: ${words}`, { sent: true })
  }
  const { blob, remaining_bytes: remaining } = parsed.data.result
  return { bytes: Buffer.from(blob, 'base64'), remaining }
}

const path = 'maintenance/snapshot'

function strange(endpoint: string, what: string): EtcdError {
  return new EtcdError('ETCD_ANSWER', `${path}: ${endpoint}: ${what}`, { sent: true })
}
