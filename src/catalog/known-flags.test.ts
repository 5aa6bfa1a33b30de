import { expect, test } from 'vitest'
import { listTestedReleases } from './catalog.ts'
import { findFlags, listMinorsWithFlag, windowsFlags } from './known-flags.ts'
import type { ProgramName } from './program-flags.ts'
import { minorsWithoutFlags } from './testing/minors-without-flags.ts'
import { toMinor } from './version.ts'

const kubernetes: readonly ProgramName[] = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
]

const ofReleases = listTestedReleases()
  .flatMap((release) => [
    ...kubernetes.map((program) => ({ program, version: release.kubernetes })),
    { program: 'etcd' as const, version: release.etcd },
    { program: 'flanneld' as const, version: release.flannel },
  ])
  .filter(({ version }) => !minorsWithoutFlags.includes(toMinor(version)))

test.each(ofReleases)('the flags of $program $version are known, and in shape', ({ program, version }) => {
  const flags = Object.entries(findFlags(program, version) ?? {})
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
})

test('a minor without generated flags has none, and no program has those of another', () => {
  expect(findFlags('kubelet', '1.99.0')).toBeUndefined()
  expect(findFlags('etcd', '1.37.1')).toBeUndefined()
})

test.each<[ProgramName, string, number]>([
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
  expect(Object.keys(findFlags(program, version) ?? {})).toHaveLength(count)
})

test('flags that a minor adds or removes are only in the minors that have them', () => {
  expect(listMinorsWithFlag('kube-controller-manager', 'concurrent-disruption-syncs')).toEqual(['1.37'])
  expect(listMinorsWithFlag('kube-controller-manager', 'concurrent-service-syncs')).toEqual(['1.35', '1.36'])
  expect(listMinorsWithFlag('kubelet', 'containerd')).toEqual(['1.35', '1.36'])
  expect(listMinorsWithFlag('etcd', 'feature-gates')).toEqual(['3.6', '3.7'])
})

test('minors come in order, and without gaps', () => {
  expect(listMinorsWithFlag('kubelet', 'v')).toEqual(['1.35', '1.36', '1.37'])
  expect(listMinorsWithFlag('etcd', 'name')).toEqual(['3.5', '3.6', '3.7'])
  expect(listMinorsWithFlag('kubelet', 'no-such-flag')).toEqual([])
})

test('what is said to be of Windows alone is not of Linux', () => {
  for (const program of ['kubelet', 'kube-proxy'] as const) {
    const linux = Object.keys(findFlags(program, '1.37.1') ?? {})
    expect(Object.keys(windowsFlags[program] ?? {}).filter((flag) => linux.includes(flag))).toEqual([])
  }
})
