import { expect, test } from 'vitest'
import { findKubernetesRelease, listTestedReleases } from './catalog.ts'
import { compareVersions } from './version.ts'

test('a Kubernetes release names the component versions tested with it', () => {
  expect(findKubernetesRelease('1.37.1')).toMatchObject({ etcd: '3.7.3', containerd: '2.3.7', runc: '1.5.2' })
  expect(findKubernetesRelease('1.36.4')).toMatchObject({
    etcd: '3.6.16',
    containerd: '2.3.7',
    crictl: '1.36.0',
  })
})

test('tested releases are sorted newest first, without duplicates', () => {
  const versions = listTestedReleases().map(({ kubernetes }) => kubernetes)
  expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => compareVersions(b, a)))
})

test('every patch of a known minor has the components of that minor', () => {
  expect(findKubernetesRelease('1.37.99')).toEqual({
    ...findKubernetesRelease('1.37.1'),
    kubernetes: '1.37.99',
  })
})

test('a version of an unknown minor is refused, with the nearest versions', () => {
  expect(() => findKubernetesRelease('1.35.2')).toThrow(
    expect.objectContaining({
      code: 'CATALOG_UNKNOWN_VERSION',
      message: 'this release of hyperkube does not support Kubernetes 1.35.2; it supports 1.36 and 1.37',
      hint: 'set spec.kubernetes to a version of these minors, for example 1.36.4 or 1.37.1',
    }),
  )
})
