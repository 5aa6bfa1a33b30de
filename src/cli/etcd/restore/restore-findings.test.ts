import { expect, test } from 'vitest'
import { checkRestore, type RestoreFacts } from '../../../actions/phases/restore-findings.ts'
import { createIdentity } from '../../../identity/identity.ts'
import { formatRestore } from '../../text/notice-text.ts'
import { buildSnapshotManifest, clusterIdentity } from '../testing/fixtures.ts'

const manifest = buildSnapshotManifest(clusterIdentity)
const facts: RestoreFacts = {
  manifest,
  previousIdentity: clusterIdentity,
  currentIdentity: clusterIdentity,
  kubernetes: '1.37.1',
  leftOut: [],
  disks: new Map(),
}
const codes = (more: Partial<RestoreFacts>): string[] =>
  checkRestore({ ...facts, ...more }).map(({ severity, code }) => `${severity} ${code}`)

test('a snapshot of the same cluster and version has no findings', () => {
  expect(codes({})).toEqual([])
})

test('a snapshot of a newer Kubernetes is refused, one of an older is a warning', () => {
  expect(codes({ kubernetes: '1.36.4' })).toEqual(['error ETCD_RESTORE_VERSION'])
  expect(codes({ kubernetes: '1.38.0' })).toEqual(['warning ETCD_RESTORE_VERSION'])
  expect(codes({ kubernetes: '1.37.0' })).toEqual([])
})

test('a snapshot whose Secrets cannot be decrypted is refused', async () => {
  const { encryptionKey } = await createIdentity('shop', new Date('2026-01-01'))
  expect(codes({ previousIdentity: { ...clusterIdentity, encryptionKey } })).toEqual([
    'error ETCD_RESTORE_KEYS',
  ])
})

test('etcd hosts that are left out of the restore are an error', () => {
  expect(codes({ leftOut: ['cp2', 'cp3'] })).toEqual(['error ETCD_RESTORE_LEFT_OUT'])
})

test('members need space for the snapshot and for the new data, because the previous data is kept', () => {
  const mebibyte = 2 ** 20
  const database = { ...manifest.files['etcd.db'], size: 100 * mebibyte }
  const read = (...sizes: readonly (readonly [path: string, free: number])[]) =>
    checkRestore({
      ...facts,
      manifest: { ...manifest, files: { ...manifest.files, 'etcd.db': database } },
      disks: new Map([
        [
          'cp1',
          sizes.map(([path, free]) => ({ path, totalBytes: 2 ** 40, availableBytes: free * mebibyte })),
        ],
      ]),
    })
  expect(read(['/', 328])).toEqual([])
  expect(read(['/', 327])).toMatchObject([
    { code: 'ETCD_RESTORE_SPACE', host: 'cp1', message: expect.stringContaining('needs 328 MiB') },
  ])
  expect(read(['/', 100], ['/var/lib/etcd', 228])).toEqual([])
  expect(read(['/', 1000], ['/var/lib/etcd', 227])).toMatchObject([{ code: 'ETCD_RESTORE_SPACE' }])
})

const summary = {
  name: 'before.snapshot',
  manifest,
  now: new Date('2026-11-15T15:07:00Z'),
  members: ['cp1', 'cp2', 'cp3'],
  hosts: ['cp1', 'cp2', 'cp3', 'w1'],
}

test('the summary shows the number of lost changes', () => {
  expect(formatRestore({ ...summary, current: { revision: 12, keys: 4 } })).toMatchInlineSnapshot(`
    "shop is restored to its state 3 h 07 min ago: snapshot before.snapshot, taken 2026-11-15T12:00:00.000Z, 3 keys, revision 5
      lost: 7 changes since the snapshot: etcd is at revision 12 with 4 keys
      stopped during the restore: kubelets, controllers, API servers and etcd on cp1, cp2, cp3 and w1; pods keep running
      pods created after the snapshot are deleted; pods deleted after the snapshot are created again
      the current etcd data is kept on cp1, cp2 and cp3 in /var/lib/etcd/before-restore-TIME
    "
  `)
})

test('the summary reports an unknown loss and no loss', () => {
  const text = formatRestore({ ...summary, current: undefined })
  expect(text).toContain(
    'lost: all changes since the snapshot; their number is unknown, because no etcd member answers',
  )
  expect(formatRestore({ ...summary, current: { revision: 5, keys: 3 } })).toContain('lost: nothing')
})
