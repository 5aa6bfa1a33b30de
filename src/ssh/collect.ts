import type { Readable } from 'node:stream'

/** More than any answer of ours; a host that never stops talking must not fill our memory. */
const most = 64 << 20

/** All that comes, until it ends; `tooMuch` is told once it is more than can be meant. */
export async function collect(stream: Readable, tooMuch: (limit: number) => void): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= most) chunks.push(chunk)
      else tooMuch(most)
    })
    const done = (): void => resolve(Buffer.concat(chunks))
    stream.on('end', done).on('close', done)
    // How a program ended is said by its exit code or by the connection.
    stream.on('error', () => undefined)
  })
}

/** The last of what comes, however much it is. */
export async function collectTail(stream: Readable, keep = 16 << 10): Promise<Buffer> {
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
