import { expect, test } from 'vitest'
import { checkArgs } from './check-args.ts'
import { checkFeatureGates, parseFeatureGates } from './feature-gates.ts'
import { lockedFeatureGates } from './flags/locked-feature-gates.ts'
import { removedFeatureGates } from './flags/removed-feature-gates.ts'
import { shippedCatalog } from './shipped-catalog.ts'

test('a gate is refused from the minor on that removed it', () => {
  expect(checkFeatureGates('kubelet', { MemoryManager: 'true' }, '1.35.8')).toEqual([])
  const gates = { MemoryManager: 'true', NodeSwap: 'true' }
  expect(checkFeatureGates('kubelet', gates, '1.37.1')).toMatchObject([
    {
      code: 'FEATURE_GATE_REMOVED',
      message:
        'Kubernetes 1.36 removed the feature gate MemoryManager, and kubelet 1.37.1 does not start with it',
    },
  ])
})

test('gates in flags of Kubernetes programs are checked, and those of etcd are not', () => {
  const args = { 'feature-gates': 'MemoryManager=true, GangScheduling=false' }
  const codes = (program: 'kube-apiserver' | 'etcd'): string[] =>
    checkArgs(shippedCatalog, program, args, '1.37.1', 'linux').map(({ code }) => code)
  expect(codes('kube-apiserver')).toEqual(['FEATURE_GATE_REMOVED', 'FEATURE_GATE_REMOVED'])
  expect(codes('etcd')).toEqual([])
})

test('gates are read from the value of the flag', () => {
  expect(parseFeatureGates('A=true,B=false, C')).toEqual({ A: 'true', B: 'false', C: '' })
  expect(parseFeatureGates('')).toEqual({})
})

test.each([
  ['NodeSwap', 'false', '1.34.10', 'Kubernetes 1.34 locked the feature gate NodeSwap to true'],
  [
    'GitRepoVolumeDriver',
    'true',
    '1.37.1',
    'Kubernetes 1.36 locked the feature gate GitRepoVolumeDriver to false',
  ],
])('%s=%s is refused from the minor on that locked another value', (gate, value, version, text) => {
  expect(checkFeatureGates('kube-apiserver', { [gate]: value }, version)).toMatchObject([
    { code: 'FEATURE_GATE_LOCKED', message: expect.stringContaining(text) },
  ])
})

test.each([
  ['NodeSwap', 'true', '1.34.10'],
  ['NodeSwap', 'false', '1.33.13'],
  ['GitRepoVolumeDriver', 'False', '1.37.1'],
])('%s=%s is accepted by Kubernetes %s', (gate, value, version) => {
  expect(checkFeatureGates('kube-apiserver', { [gate]: value }, version)).toEqual([])
})

test('no gate is locked twice', () => {
  const all = Object.values(lockedFeatureGates).flatMap(({ on, off }) => [...on, ...(off ?? [])])
  expect(new Set(all).size).toBe(all.length)
})

test('no gate is removed twice', () => {
  const all = Object.values(removedFeatureGates).flat()
  expect(new Set(all).size).toBe(all.length)
})
