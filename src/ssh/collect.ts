import type { Readable } from 'node:stream'

/**
 * Maximum output size in bytes, larger than any expected output. Endless output of a host must not fill the
 * memory.
 */
const maxBytes = 64 << 20

/** Collects a stream until its end. `onLimit` is called when the stream exceeds the limit. */
export async function collectOutput(stream: Readable, onLimit: (limit: number) => void): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) chunks.push(chunk)
      else onLimit(maxBytes)
    })
    const done = (): void => resolve(Buffer.concat(chunks))
    stream.on('end', done).on('close', done)
    // Stream errors are ignored: the exit code or the connection shows how the program ended.
    stream.on('error', () => undefined)
  })
}

/** Returns the last `keep` bytes of a stream of any length. */
export async function collectOutputTail(stream: Readable, keep = 16 << 10): Promise<Buffer> {
  let tail: Buffer = Buffer.alloc(0)
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      tail = Buffer.concat([tail, chunk]).subarray(-keep)
    })
    const done = (): void => resolve(tail)
    stream.on('end', done).on('close', done)
    stream.on('error', () => undefined)
  })
}
