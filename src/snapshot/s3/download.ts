import type { Bucket } from './bucket.ts'
import { bucketUnreachable } from './errors.ts'

/** A connection without a byte for this time counts as lost, in milliseconds. */
const stallTimeoutMs = 60_000
/** Reconnects without progress before the download fails. */
const maxFailures = 3

/** Reads an object. A lost connection is replaced and continues at the same offset. */
export async function* downloadObject(
  bucket: Bucket,
  key: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const description = `read ${key}`
  let done = 0
  let etag: string | undefined
  for (let failures = 0; ;) {
    const stalled = new AbortController()
    const timer = setTimeout(
      () => stalled.abort(new Error(`no byte came for ${stallTimeoutMs / 1000} s`)),
      stallTimeoutMs,
    )
    try {
      // `if-match` fails if another object has the same name by now.
      const headers = etag === undefined ? {} : { range: `bytes=${done}-`, 'if-match': etag }
      const combinedSignal = AbortSignal.any([signal, stalled.signal])
      const response = await bucket.open({ method: 'GET', description, key, headers }, combinedSignal)
      etag ??= response.headers.get('etag') ?? ''
      for await (const chunk of response.body ?? []) {
        timer.refresh()
        done += chunk.length
        failures = 0
        yield chunk
      }
      return
    } catch (error) {
      signal.throwIfAborted()
      failures += 1
      if (failures > maxFailures || etag === undefined || etag === '')
        throw bucketUnreachable(bucket.title, description, error)
    } finally {
      clearTimeout(timer)
    }
  }
}
