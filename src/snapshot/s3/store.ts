import { HyperkubeError } from '../../kit/errors.ts'
import { snapshotName, type SnapshotStore, type StoredSnapshot } from '../store.ts'
import type { Bucket } from './bucket.ts'
import { bucketUnreachable, isTransientBucketError, parseObjectPage } from './responses.ts'
import { uploadToBucket } from './upload.ts'

/** Creates a store in a bucket. Keys are PREFIX/NAME, or NAME without a prefix. */
export function createBucketStore(bucket: Bucket, prefix?: string): SnapshotStore {
  const keyPrefix = prefix === undefined ? '' : `${prefix}/`
  return {
    title: `${bucket.title}/${keyPrefix}`,
    put: async (name, file, progress, signal) =>
      uploadToBucket(bucket, keyPrefix + name, file, progress, signal),
    async list(signal) {
      const all: StoredSnapshot[] = []
      for (let next: string | undefined = ''; next !== undefined;) {
        const query: Record<string, string> = {
          'list-type': '2',
          prefix: keyPrefix,
          delimiter: '/',
          ...(next === '' ? {} : { 'continuation-token': next }),
        }
        const page = parseObjectPage(
          (await bucket.request({ method: 'GET', description: 'list', query }, signal)).text,
        )
        all.push(...page.objects.map((one) => ({ ...one, name: one.name.slice(keyPrefix.length) })))
        next = page.next
      }
      return all
        .filter(({ name }) => snapshotName.safeParse(name).success)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    },
    read: (name, signal) => downloadObject(bucket, keyPrefix + name, signal),
    remove: async (name, signal) =>
      void (await bucket.request(
        { method: 'DELETE', description: `remove ${name}`, key: keyPrefix + name },
        signal,
      )),
  }
}

/** A connection counts as lost if no byte arrives for this time, in milliseconds. */
const stallTimeoutMs = 60_000
/** Maximum number of failed connections in a row. Each received byte resets the count. */
const maxFailures = 3

/** Downloads an object. After a lost connection the download continues at the same offset. */
async function* downloadObject(bucket: Bucket, key: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const description = `read ${key}`
  let done = 0
  let etag: string | undefined
  for (let failures = 0; ;) {
    const stalled = new AbortController()
    const timer = setTimeout(
      () => stalled.abort(new Error(`no data received for ${stallTimeoutMs / 1000} s`)),
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
      // The server has refused the request, so the connection was not lost.
      if (error instanceof HyperkubeError && !isTransientBucketError(error)) throw error
      failures += 1
      if (failures > maxFailures || etag === undefined || etag === '')
        throw bucketUnreachable(bucket.title, description, error)
    } finally {
      clearTimeout(timer)
    }
  }
}
