import type { Bucket } from './bucket.ts'
import { unreachable } from './errors.ts'

/** So long without a byte is no connection any more, in milliseconds. */
const stall = 60_000
/** A connection that brings nothing is made anew so often. */
const patience = 3

/** What is in an object. A connection that is cut is made anew, and goes on where it was. */
export async function* download(
  bucket: Bucket,
  key: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const what = `read ${key}`
  let done = 0
  let etag: string | undefined
  for (let failures = 0; ;) {
    const silence = new AbortController()
    const timer = setTimeout(() => silence.abort(new Error(`no byte came for ${stall / 1000} s`)), stall)
    try {
      // Of another object under the same name nothing is taken.
      const headers = etag === undefined ? {} : { range: `bytes=${done}-`, 'if-match': etag }
      const either = AbortSignal.any([signal, silence.signal])
      const response = await bucket.open({ method: 'GET', what, key, headers }, either)
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
      if (failures > patience || etag === undefined || etag === '')
        throw unreachable(bucket.title, what, error)
    } finally {
      clearTimeout(timer)
    }
  }
}
