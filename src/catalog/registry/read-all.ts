import { urlTooLargeError } from '../fetcher.ts'

/** Reads a whole body into memory. Throws if it is longer than `limit` bytes. */
export async function readAllBytes(
  body: AsyncIterable<Uint8Array>,
  url: string,
  limit: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) throw urlTooLargeError(url, limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export async function readAllText(
  body: AsyncIterable<Uint8Array>,
  url: string,
  limit: number,
): Promise<string> {
  return (await readAllBytes(body, url, limit)).toString('utf8')
}
