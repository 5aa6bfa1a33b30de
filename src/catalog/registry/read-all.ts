import { tooLarge } from '../fetcher.ts'

/** All of something small. */
export async function wholeBytes(
  body: AsyncIterable<Uint8Array>,
  url: string,
  limit: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) throw tooLarge(url, limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export async function wholeText(
  body: AsyncIterable<Uint8Array>,
  url: string,
  limit: number,
): Promise<string> {
  return (await wholeBytes(body, url, limit)).toString('utf8')
}
