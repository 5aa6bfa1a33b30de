import { expect, test } from 'vitest'
import { clusterWith, planInput } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { objectsOf } from './desired-objects.ts'

const cluster = clusterWith('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')
const { plans } = planCluster(planInput(cluster))

function namesWith(manager: Cluster['spec']['manager']): string[] {
  const { marked } = objectsOf({ ...cluster, spec: { ...cluster.spec, manager } }, plans)
  return marked.map(({ metadata }) => metadata.name)
}

test('controllers that are on have rights, and so has whom the certificate of the plan names', () => {
  const names = namesWith({ controllers: ['*', '-etcd-keeper', 'disk-cordoner'] })
  expect(names).toEqual(
    expect.arrayContaining(['hyperkube:controller:node-keeper', 'hyperkube:controller:disk-cordoner']),
  )
  expect(names).not.toContain('hyperkube:controller:etcd-keeper')
  const manager = plans[0]?.components.find(({ name }) => name === 'hyperkube-controller-manager')
  expect(names).toContain(manager?.certificates[0]?.subject.commonName)
  // The agent of a host speaks as its kubelet does.
  const kubelet = plans[0]?.components.find(({ name }) => name === 'kubelet')
  const users = objectsOf(cluster, plans).marked.flatMap(({ subjects }) => JSON.stringify(subjects) ?? [])
  expect(users.join()).toContain(`"${kubelet?.certificates[0]?.subject.commonName}"`)
})

test('where there are none, nobody has rights for them', () => {
  expect(namesWith('none')).toEqual([])
})
