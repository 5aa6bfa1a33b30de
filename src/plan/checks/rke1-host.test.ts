import { expect, test } from 'vitest'
import type { PlanInput } from '../context.ts'
import { checkCaseBriefly } from './testing/fixtures.ts'

type Adoption = PlanInput['identity']['adoption']

const withNetworkPods = ['network: { plugin: none }']
const combined = '- { name: cp1, address: 10.0.0.11, roles: [control-plane] }'
const worker = '- { name: w1, address: 10.0.0.21, roles: [worker] }'
const docker = { linux: { firewalls: ['docker' as const], foreignServices: ['containerd.service'] } }

function adopt(changes: Partial<NonNullable<Adoption>> = {}): (input: PlanInput) => PlanInput {
  const adoption = { from: 'rke1', hosts: undefined, committed: false, ...changes } as const
  return (input) => ({ ...input, identity: { ...input.identity, adoption } })
}

test('Docker and its containerd are expected on a host that RKE1 installed', () => {
  const check = (changes?: Parameters<typeof adopt>[0]): string[] =>
    checkCaseBriefly({
      spec: withNetworkPods,
      hosts: [combined, worker],
      facts: { w1: docker },
      input: adopt(changes),
    })
  expect(check()).toEqual([])
  expect(check({ committed: true })).toEqual(['w1 warning HOST_DOCKER'])
  expect(check({ hosts: ['cp1'] })).toEqual(['w1 error HOST_SERVICE_TAKEN', 'w1 warning HOST_DOCKER'])
})

test('the flannel of hyperkube, or a kube-proxy that stays, prevents the move', () => {
  const check = (network: string): string[] =>
    checkCaseBriefly({ spec: [`network: { ${network} }`], hosts: [combined, worker], input: adopt() })
  expect(check('plugin: flannel, policy: none')).toEqual(['cluster error ADOPT_RKE1_NETWORK'])
  expect(check('plugin: none, kubeProxy: none')).toEqual(['cluster error ADOPT_RKE1_NETWORK'])
})

test('a host that would run only etcd prevents the move', () => {
  const hosts = [combined, '- { name: etcd1, address: 10.0.0.12, roles: [etcd] }', worker]
  expect(checkCaseBriefly({ spec: withNetworkPods, hosts, input: adopt() })).toEqual([
    'etcd1 error ADOPT_RKE1_ETCD_HOST',
  ])
})
