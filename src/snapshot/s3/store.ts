import { snapshotName } from '../name.ts'
import type { SnapshotStore, StoredSnapshot } from '../store.ts'
import { parseObjectPage } from './responses.ts'
import type { Bucket } from './bucket.ts'
import { downloadObject } from './download.ts'
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
