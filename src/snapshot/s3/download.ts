import type { Bucket } from './bucket.ts'
import { bucketUnreachable } from './errors.ts'

/** A connection counts as lost if no byte arrives for this time, in milliseconds. */
const stallTimeoutMs = 60_000
/** Maximum number of failed connections in a row. Each received byte resets the count. */
const maxFailures = 3

/** Downloads an object. After a lost connection the download continues at the same offset. */
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
      // `if-match` makes the request fail if the object was replaced in the meantime.
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
