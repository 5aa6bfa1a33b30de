import { expect, test } from 'vitest'
import { findKubernetesRelease, nearestVersions, kubernetesReleases } from './catalog.ts'
import { compareVersions } from './version.ts'

test('versions that belong together', () => {
  expect(findKubernetesRelease('1.37.1')).toMatchObject({ etcd: '3.7.3', containerd: '2.3.7', runc: '1.5.2' })
  expect(findKubernetesRelease('1.36.4')).toMatchObject({
    etcd: '3.6.16',
    containerd: '2.3.7',
    crictl: '1.36.0',
  })
})

test('the newest comes first, and none twice', () => {
  const versions = kubernetesReleases.map(({ kubernetes }) => kubernetes)
  expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => compareVersions(b, a)))
})

test('an unknown version is refused, with the nearest ones named', () => {
  expect(() => findKubernetesRelease('1.36.2')).toThrow(
    expect.objectContaining({
      code: 'CATALOG_UNKNOWN_VERSION',
      message: 'this release of hyperkube does not support Kubernetes 1.36.2',
      hint: 'set spec.kubernetes to 1.36.4 or 1.37.1',
    }),
  )
})

test('near is first the minor, then the patch, then the newer one', () => {
  const known = ['1.35.9', '1.37.1', '1.36.10', '1.36.2', '1.36.4']
  expect(nearestVersions('1.36.3', known)).toEqual(['1.36.4', '1.36.2', '1.36.10'])
  expect(nearestVersions('1.38.0', known)).toEqual(['1.37.1', '1.36.2', '1.36.4'])
})

test('versions compare by number', () => {
  expect(compareVersions('1.36.10', '1.36.9')).toBeGreaterThan(0)
  expect(compareVersions('3.6.16', '3.7')).toBeLessThan(0)
  expect(compareVersions('3.7.0', '3.7')).toBe(0)
})
