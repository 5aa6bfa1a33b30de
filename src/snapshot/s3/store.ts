import { snapshotName } from '../name.ts'
import type { SnapshotStore, StoredSnapshot } from '../store.ts'
import { objectPage } from './responses.ts'
import type { Bucket } from './bucket.ts'
import { download } from './download.ts'
import { upload } from './upload.ts'

/** Snapshots in a bucket. `prefix` stands before their names. */
export function bucketStore(bucket: Bucket, prefix?: string): SnapshotStore {
  const before = prefix === undefined ? '' : `${prefix}/`
  return {
    title: `${bucket.title}/${before}`,
    put: async (name, file, progress, signal) => upload(bucket, before + name, file, progress, signal),
    async list(signal) {
      const all: StoredSnapshot[] = []
      for (let next: string | undefined = ''; next !== undefined;) {
        const query: Record<string, string> = {
          'list-type': '2',
          prefix: before,
          delimiter: '/',
          ...(next === '' ? {} : { 'continuation-token': next }),
        }
        const page = objectPage((await bucket.ask({ method: 'GET', what: 'list', query }, signal)).text)
        all.push(...page.objects.map((one) => ({ ...one, name: one.name.slice(before.length) })))
        next = page.next
      }
      return all
        .filter(({ name }) => snapshotName.safeParse(name).success)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    },
    read: (name, signal) => download(bucket, before + name, signal),
    remove: async (name, signal) =>
      void (await bucket.ask({ method: 'DELETE', what: `remove ${name}`, key: before + name }, signal)),
  }
}
