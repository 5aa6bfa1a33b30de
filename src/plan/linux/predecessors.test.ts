import { expect, test } from 'vitest'
import type { Predecessor } from '../../contract/predecessor.ts'
import { planCluster } from '../plan.ts'
import { buildPlanInput, buildTestCluster } from '../testing/fixtures.ts'

/** Lists what the components of each host of an RKE1 cluster replace, by host and component. */
function listReplaced(committed = false): Record<string, Record<string, Predecessor>> {
  const cluster = buildTestCluster(
    '{ name: cp1, address: 10.0.0.11, roles: [control-plane] }',
    '{ name: w1, address: 10.0.0.21, roles: [worker] }',
    '{ name: w2, address: 10.0.0.22, roles: [worker] }',
  )
  const { network } = cluster.spec
  const input = buildPlanInput({
    ...cluster,
    spec: { ...cluster.spec, network: { ...network, plugin: 'none' } },
  })
  const adoption = { from: 'rke1', hosts: ['cp1', 'w1'], committed } as const
  const { plans } = planCluster({ ...input, identity: { ...input.identity, adoption } })
  return Object.fromEntries(
    plans.map(({ host, components }) => [
      host,
      Object.fromEntries(
        components.flatMap(({ name, replaces }) => (replaces === undefined ? [] : [[name, replaces]])),
      ),
    ]),
  )
}

test('components of a moved host of RKE1 replace containers, and a host that joined later replaces nothing', () => {
  const container = (name: string): Predecessor => ({ kind: 'container', container: name, kept: true })
  expect(listReplaced()).toEqual({
    cp1: {
      etcd: {
        ...container('etcd'),
        data: { from: '/var/lib/etcd/member', to: '/var/lib/etcd/data/member', owner: 'etcd' },
      },
      'kube-apiserver': container('kube-apiserver'),
      'kube-controller-manager': container('kube-controller-manager'),
      'kube-scheduler': container('kube-scheduler'),
      containerd: { kind: 'docker', containers: ['kubelet', 'kube-proxy'], kept: true },
    },
    w1: {
      containerd: { kind: 'docker', containers: ['kubelet', 'kube-proxy', 'nginx-proxy'], kept: true },
    },
    w2: {},
  })
})

test('after the commit no container is kept', () => {
  const kept = Object.values(listReplaced(true)).flatMap((host) => Object.values(host).map((one) => one.kept))
  expect(new Set(kept)).toEqual(new Set([false]))
})
