import type { Readable } from 'node:stream'
import { HyperkubeError } from '../../kit/errors.ts'

/** Maximum size of a line. A plan with all its secrets is far smaller. */
const maxLineBytes = 32 * 2 ** 20

/**
 * Yields the lines of a stream. An unterminated last line is dropped, because the sender did not finish it.
 */
export async function* readLines(stream: Readable): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    let rest = Buffer.from(chunk)
    for (;;) {
      const end = rest.indexOf(0x0a)
      const piece = end === -1 ? rest : rest.subarray(0, end)
      size += piece.length
      if (size > maxLineBytes)
        throw new HyperkubeError('AGENT_LINE_TOO_LONG', 'a message is longer than any of ours')
      pieces.push(piece)
      if (end === -1) break
      yield Buffer.concat(pieces).toString('utf8')
      pieces = []
      size = 0
      rest = rest.subarray(end + 1)
    }
  }
}
