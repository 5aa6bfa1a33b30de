import { expect, test } from 'vitest'
import { buildTestCluster, buildPlanInput } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { buildDesiredObjects, listRemovalCommands } from './desired-objects.ts'

const cluster = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')
const { plans } = planCluster(buildPlanInput(cluster))

function listObjectNames(manager: Cluster['spec']['manager']): string[] {
  const { labelled } = buildDesiredObjects({ ...cluster, spec: { ...cluster.spec, manager } }, plans)
  return labelled.map(({ metadata }) => metadata.name)
}

test('enabled controllers, the user of the manager certificate and the kubelet user have RBAC rules', () => {
  const names = listObjectNames({ controllers: ['*', '-etcd-maintenance', 'disk-cordoner'] })
  expect(names).toEqual(
    expect.arrayContaining(['hyperkube:controller:node-conditions', 'hyperkube:controller:disk-cordoner']),
  )
  expect(names).not.toContain('hyperkube:controller:etcd-maintenance')
  const manager = plans[0]?.components.find(({ name }) => name === 'hyperkube-controller-manager')
  expect(names).toContain(manager?.certificates[0]?.subject.commonName)
  // An agent uses the certificate of its host's kubelet, so the kubelet user needs the agent's RBAC rules.
  const kubelet = plans[0]?.components.find(({ name }) => name === 'kubelet')
  const users = buildDesiredObjects(cluster, plans).labelled.flatMap(
    ({ subjects }) => JSON.stringify(subjects) ?? [],
  )
  expect(users.join()).toContain(`"${kubelet?.certificates[0]?.subject.commonName}"`)
})

test('without a manager only the objects of hosts are desired', () => {
  expect(listObjectNames('none')).toEqual([
    'hosts.hyperkube.dev',
    'hyperkube:host:cp1',
    'hyperkube:host:cp1',
    'cp1',
  ])
})

test('commands that remove objects cover every object that hyperkube owns, and no other one', () => {
  const [byLabel = '', ...byName] = listRemovalCommands(cluster)
  const { base, labelled } = buildDesiredObjects(cluster, plans)
  const kinds = new Set(byLabel.split(' ').at(-1)?.split(','))
  for (const { apiVersion, kind } of labelled)
    expect(kinds.has(kind.toLowerCase()) || apiVersion.startsWith('hyperkube.dev/'), kind).toBe(true)
  for (const { kind, metadata } of base)
    expect(
      byName.some((line) => line.includes(` ${kind.toLowerCase()} `) && line.includes(metadata.name)),
    ).toBe(true)
  const names = byName.flatMap((line) =>
    line.replace(/^kubectl delete --ignore-not-found (-n \S+ )?\S+ /, '').split(' '),
  )
  expect(names.filter((name) => !name.includes('hyperkube'))).toEqual([])
})

test('default service accounts of the profile cis are not removed', () => {
  const cis = {
    ...cluster,
    spec: { ...cluster.spec, security: { ...cluster.spec.security, profile: 'cis' as const } },
  }
  expect(listRemovalCommands(cis).join('\n')).not.toContain('serviceaccount')
})
