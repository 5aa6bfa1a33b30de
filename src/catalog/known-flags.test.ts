import { expect, test } from 'vitest'
import { listDefaultReleases } from './catalog.ts'
import { findFlags, listMinorsWithFlag, windowsFlags } from './known-flags.ts'
import { shippedCatalog } from './shipped-catalog.ts'
import type { ProgramName } from './program-flags.ts'

const kubernetes: readonly ProgramName[] = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
]

const ofReleases = listDefaultReleases(shippedCatalog).flatMap((release) => [
  ...kubernetes.map((program) => ({ program, version: release.kubernetes })),
  { program: 'etcd' as const, version: release.etcd },
  { program: 'flanneld' as const, version: release.flannel },
  { program: 'kube-router' as const, version: release.kubeRouter },
])

test.each(ofReleases)(
  'the flags of $program $version are known, valid and sorted',
  ({ program, version }) => {
    const flags = Object.entries(findFlags(shippedCatalog.flags, program, version) ?? {})
    // About half the number of flags of the smallest program. Fewer flags mean that their generation failed.
    expect(flags.length).toBeGreaterThan(15)
    for (const [name, kind] of flags) {
      expect(name).toMatch(/^[a-z][a-z0-9_-]*$/)
      expect(['boolean', 'value']).toContain(kind)
    }
    const names = flags.map(([name]) => name)
    expect(names).toEqual(names.toSorted())
    expect(names).toEqual(expect.arrayContaining(['v', 'version']))
    expect(flags.some(([, kind]) => kind === 'boolean')).toBe(true)
  },
)

test('findFlags returns nothing for an unknown minor or for a version of another program', () => {
  expect(findFlags(shippedCatalog.flags, 'kubelet', '1.99.0')).toBeUndefined()
  expect(findFlags(shippedCatalog.flags, 'etcd', '1.37.1')).toBeUndefined()
})

test.each<[ProgramName, string, number]>([
  ['kube-apiserver', '1.32.5', 171],
  ['kube-apiserver', '1.35.8', 176],
  ['kube-apiserver', '1.36.4', 177],
  ['kube-apiserver', '1.37.1', 177],
  ['kube-controller-manager', '1.35.8', 148],
  ['kube-controller-manager', '1.36.4', 150],
  ['kube-controller-manager', '1.37.1', 150],
  ['kubelet', '1.36.4', 149],
  ['kubelet', '1.37.1', 131],
  ['kube-proxy', '1.36.4', 59],
  ['kube-proxy', '1.37.1', 57],
  ['etcd', '3.5.35', 126],
  ['etcd', '3.6.16', 152],
  ['etcd', '3.7.3', 127],
])('%s %s has %i flags', (program, version, count) => {
  expect(Object.keys(findFlags(shippedCatalog.flags, program, version) ?? {})).toHaveLength(count)
})

test('flags that a minor adds or removes are only in the minors that have them', () => {
  expect(
    listMinorsWithFlag(shippedCatalog.flags, 'kube-controller-manager', 'concurrent-disruption-syncs'),
  ).toEqual(['1.37'])
  expect(
    listMinorsWithFlag(shippedCatalog.flags, 'kube-controller-manager', 'concurrent-service-syncs'),
  ).toEqual(['1.32', '1.33', '1.34', '1.35', '1.36'])
  expect(listMinorsWithFlag(shippedCatalog.flags, 'kubelet', 'containerd')).toEqual([
    '1.32',
    '1.33',
    '1.34',
    '1.35',
    '1.36',
  ])
  expect(listMinorsWithFlag(shippedCatalog.flags, 'etcd', 'feature-gates')).toEqual(['3.6', '3.7'])
})

test('minors with a flag are listed in ascending order', () => {
  expect(listMinorsWithFlag(shippedCatalog.flags, 'kubelet', 'v')).toEqual([
    '1.32',
    '1.33',
    '1.34',
    '1.35',
    '1.36',
    '1.37',
  ])
  expect(listMinorsWithFlag(shippedCatalog.flags, 'etcd', 'name')).toEqual(['3.5', '3.6', '3.7'])
  expect(listMinorsWithFlag(shippedCatalog.flags, 'kubelet', 'no-such-flag')).toEqual([])
})

test('no Windows-only flag exists on Linux', () => {
  for (const program of ['kubelet', 'kube-proxy'] as const) {
    const linux = Object.keys(findFlags(shippedCatalog.flags, program, '1.37.1') ?? {})
    expect(Object.keys(windowsFlags[program] ?? {}).filter((flag) => linux.includes(flag))).toEqual([])
  }
})
