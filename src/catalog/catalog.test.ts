import { expect, test } from 'vitest'
import { findKubernetesRelease, listDefaultReleases } from './catalog.ts'
import { shippedCatalog } from './shipped-catalog.ts'
import { compareVersions, parseVersion, toMinor } from './version.ts'

test('a Kubernetes release names the component versions that belong to it', () => {
  expect(findKubernetesRelease(shippedCatalog, '1.37.1')).toMatchObject({
    etcd: '3.7.3',
    containerd: '2.3.7',
    runc: '1.5.2',
  })
  expect(findKubernetesRelease(shippedCatalog, '1.36.4')).toMatchObject({
    etcd: '3.6.16',
    containerd: '2.3.7',
    crictl: '1.36.0',
  })
})

test.each([
  ['1.32', '3.5'],
  ['1.33', '3.5'],
  ['1.34', '3.6'],
  ['1.35', '3.6'],
  ['1.36', '3.6'],
  ['1.37', '3.7'],
])('Kubernetes %s has the minor of etcd that upstream chose, %s', (minor, etcd) => {
  expect(toMinor(findKubernetesRelease(shippedCatalog, `${minor}.0`).etcd)).toBe(etcd)
})

test('minors have no gaps, because an upgrade skips none', () => {
  const minors = listDefaultReleases(shippedCatalog).map(({ kubernetes }) => parseVersion(kubernetes)[1])
  expect(minors).toEqual(minors.map((_, index) => (minors[0] ?? 0) - index))
})

test('default releases are sorted newest first, without duplicates', () => {
  const versions = listDefaultReleases(shippedCatalog).map(({ kubernetes }) => kubernetes)
  expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => compareVersions(b, a)))
})

test('every patch of a known minor has the components of that minor', () => {
  expect(findKubernetesRelease(shippedCatalog, '1.37.99')).toEqual({
    ...findKubernetesRelease(shippedCatalog, '1.37.1'),
    kubernetes: '1.37.99',
  })
})

test('a version of an unknown minor is refused, with the nearest versions', () => {
  expect(() => findKubernetesRelease(shippedCatalog, '1.31.2')).toThrow(
    expect.objectContaining({
      code: 'CATALOG_UNKNOWN_VERSION',
      message: 'Kubernetes 1.31.2 is not in the catalog, which has 1.32, 1.33, 1.34, 1.35, 1.36 and 1.37',
      hint: 'set spec.kubernetes to a version of these minors, for example 1.32.5 or 1.33.13 or 1.34.10',
    }),
  )
})
