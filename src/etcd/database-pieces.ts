import { snapshotLine } from './wire.ts'
import { EtcdError, tryParseJson } from './etcd-error.ts'
import { toPrintable } from '../kit/text.ts'

export interface DatabasePiece {
  readonly bytes: Buffer
  /** Number of bytes still to come, without the digest at the end. */
  readonly remaining: number
}

/** Maximum length of a line. etcd sends chunks of 32 KiB, so valid lines are much shorter. */
const maxLineBytes = 1 << 20

/** Parses a streamed snapshot response with one JSON document per line. Keeps at most one line in memory. */
export async function* parseDatabasePieces(
  chunks: AsyncIterable<Uint8Array>,
  endpoint: string,
): AsyncGenerator<DatabasePiece> {
  let rest: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      yield parsePiece(Buffer.concat([...rest, chunk.subarray(from, end)]), endpoint)
      ;[rest, size, from] = [[], 0, end + 1]
    }
    rest.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > maxLineBytes) throw invalidResponse(endpoint, 'a line of the response is too long')
  }
  if (size > 0) throw invalidResponse(endpoint, 'the response ends within a line')
}

const newline = 10

function parsePiece(line: Buffer, endpoint: string): DatabasePiece {
  const parsed = snapshotLine.safeParse(tryParseJson(line.toString('utf8')))
  if (!parsed.success) throw invalidResponse(endpoint, 'a line of the response has an unexpected format')
  if ('error' in parsed.data) {
    const message = toPrintable(parsed.data.error.message.slice(0, 500))
    throw new EtcdError('ETCD_UNAVAILABLE', `${path}: ${endpoint}: ${message}`, { sent: true })
  }
  const { blob, remaining_bytes: remaining } = parsed.data.result
  return { bytes: Buffer.from(blob, 'base64'), remaining }
}

const path = 'maintenance/snapshot'

function invalidResponse(endpoint: string, what: string): EtcdError {
  return new EtcdError('ETCD_INVALID_RESPONSE', `${path}: ${endpoint}: ${what}`, { sent: true })
}
