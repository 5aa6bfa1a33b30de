import { expect, test } from 'vitest'
import { findKubernetesRelease, listTestedReleases } from './catalog.ts'
import { shippedCatalog } from './shipped-catalog.ts'
import { compareVersions } from './version.ts'

test('versions that belong together', () => {
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

test('the newest comes first, and none twice', () => {
  const versions = listTestedReleases(shippedCatalog).map(({ kubernetes }) => kubernetes)
  expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => compareVersions(b, a)))
})

test('every patch of a known minor has the components of that minor', () => {
  expect(findKubernetesRelease(shippedCatalog, '1.37.99')).toEqual({
    ...findKubernetesRelease(shippedCatalog, '1.37.1'),
    kubernetes: '1.37.99',
  })
})

test('a version of an unknown minor is refused, with the nearest versions', () => {
  expect(() => findKubernetesRelease(shippedCatalog, '1.35.2')).toThrow(
    expect.objectContaining({
      code: 'CATALOG_UNKNOWN_VERSION',
      message: 'Kubernetes 1.35.2 is not in the catalog, which has 1.36 and 1.37',
      hint: 'set spec.kubernetes to a version of these minors, for example 1.36.4 or 1.37.1',
    }),
  )
})
