import type { Readable } from 'node:stream'
import { ByteBuffer } from './byte-buffer.ts'
import { HyperkubeError } from './errors.ts'

/** Default limit of a line in bytes. A plan with all its secrets is far smaller. */
const defaultMaxBytes = 32 * 2 ** 20
/** Default limit of a line in `watchLines`, in bytes. Callers expect short messages. */
const defaultMaxWatchedBytes = 64 * 2 ** 10

export class LineTooLongError extends HyperkubeError {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super('AGENT_LINE_TOO_LONG', `a message is longer than ${maxBytes} bytes`)
    this.maxBytes = maxBytes
  }
}

/**
 * Yields the lines of a stream without their ends. Throws a LineTooLongError and destroys the stream if a
 * line exceeds the limit. An unterminated last line is dropped, because the sender did not finish it.
 */
export async function* readLines(stream: Readable, maxBytes = defaultMaxBytes): AsyncGenerator<string> {
  const splitter = new LineSplitter(maxBytes, () => {
    throw new LineTooLongError(maxBytes)
  })
  const chunks: AsyncIterator<Uint8Array | string> = stream[Symbol.asyncIterator]()
  try {
    for (;;) {
      const lines = await readNextLines(chunks, splitter)
      if (lines === undefined) return
      yield* lines
    }
  } finally {
    await chunks.return?.()
  }
}

/**
 * Returns the lines that the next chunk completes. It is a function of its own, because a suspended generator
 * keeps its variables: thousands of idle connections would each keep the buffer of their last chunk.
 */
async function readNextLines(
  chunks: AsyncIterator<Uint8Array | string>,
  splitter: LineSplitter,
): Promise<readonly string[] | undefined> {
  const { value, done } = await chunks.next()
  return done === true ? undefined : [...splitter.push(Buffer.from(value))]
}

/**
 * Calls `onLine` for each line of a stream that other listeners may read, too. A line that exceeds the limit
 * is skipped.
 */
export function watchLines(
  stream: Readable,
  onLine: (line: string) => void,
  maxBytes = defaultMaxWatchedBytes,
): void {
  const splitter = new LineSplitter(maxBytes, () => undefined)
  stream.on('data', (chunk: Buffer) => {
    for (const line of splitter.push(chunk)) onLine(line)
  })
  stream.on('end', () => {
    for (const line of splitter.end()) onLine(line)
  })
}

/** Splits chunks into lines and keeps at most `maxBytes` of an unfinished line. */
class LineSplitter {
  readonly #maxBytes: number
  readonly #onTooLong: () => void
  readonly #pending = new ByteBuffer()
  /** True while the rest of a line that is too long is skipped. */
  #skipping = false

  constructor(maxBytes: number, onTooLong: () => void) {
    this.#maxBytes = maxBytes
    this.#onTooLong = onTooLong
  }

  *push(chunk: Buffer): Generator<string> {
    for (let from = 0; ;) {
      const end = chunk.indexOf(0x0a, from)
      this.#append(chunk.subarray(from, end === -1 ? chunk.length : end))
      if (end === -1) return
      const line = this.#pending.take()
      if (!this.#skipping) yield line.toString('utf8').replace(/\r$/, '')
      this.#skipping = false
      from = end + 1
    }
  }

  /** Yields the last line if it is unterminated. */
  *end(): Generator<string> {
    const line = this.#pending.take()
    if (line.length > 0) yield line.toString('utf8')
  }

  #append(piece: Buffer): void {
    if (this.#skipping) return
    if (this.#pending.length + piece.length <= this.#maxBytes) this.#pending.append(piece)
    else {
      this.#pending.take()
      this.#skipping = true
      this.#onTooLong()
    }
  }
}
