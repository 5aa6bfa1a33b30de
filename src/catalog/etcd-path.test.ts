import { expect, test } from 'vitest'
import { listDefaultReleases } from './catalog.ts'
import { checkEtcdPath } from './etcd-path.ts'
import { compareVersions } from './version.ts'
import { shippedCatalog } from './shipped-catalog.ts'

const messages = (current: string, ...etcds: string[]): string[] =>
  checkEtcdPath(
    current,
    etcds.map((etcd, index) => ({ kubernetes: `1.${33 + index}.0`, etcd })),
  ).map(({ message }) => message)

test('one minor of etcd at a time is accepted', () => {
  expect(messages('3.5.26', '3.5.35', '3.6.16', '3.6.16', '3.7.3')).toEqual([])
})

test('a skipped minor is refused, with the Kubernetes version at which it happens', () => {
  expect(messages('3.5.35', '3.5.35', '3.7.3')).toEqual([
    'Kubernetes 1.34.0 comes with etcd 3.7.3: an upgrade from 3.5.35 would skip minor versions of etcd',
  ])
})

test('etcd 3.5 needs a safe patch before 3.6', () => {
  expect(messages('3.5.25', '3.6.16')).toEqual([
    'Kubernetes 1.33.0 comes with etcd 3.6.16: etcd 3.5.25 must first be updated to 3.5.26 or later',
  ])
  expect(messages('3.5.26', '3.6.16')).toEqual([])
})

test('an older minor of etcd is refused', () => {
  expect(messages('3.7.0', '3.6.16')).toHaveLength(1)
})

test('the catalog keeps these rules from its oldest to its newest minor', () => {
  const releases = listDefaultReleases(shippedCatalog).toSorted((a, b) =>
    compareVersions(a.kubernetes, b.kubernetes),
  )
  expect(checkEtcdPath(releases[0]?.etcd ?? '', releases)).toEqual([])
})
