import { expect, test } from 'vitest'
import { checkArgs } from './check-args.ts'
import { checkFeatureGates, parseFeatureGates } from './feature-gates.ts'
import { removedFeatureGates } from './flags/removed-feature-gates.ts'
import { shippedCatalog } from './shipped-catalog.ts'

test('a gate is refused from the minor on that removed it', () => {
  expect(checkFeatureGates('kubelet', ['MemoryManager'], '1.35.8')).toEqual([])
  expect(checkFeatureGates('kubelet', ['MemoryManager', 'NodeSwap'], '1.37.1')).toMatchObject([
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

test('names are read from the value of the flag', () => {
  expect(parseFeatureGates('A=true,B=false, C')).toEqual(['A', 'B', 'C'])
  expect(parseFeatureGates('')).toEqual([])
})

test('no gate is removed twice', () => {
  const all = Object.values(removedFeatureGates).flat()
  expect(new Set(all).size).toBe(all.length)
})
