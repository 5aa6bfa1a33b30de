import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import type { Asked, TestAnswer } from '../../kit/testing/https-test-server.ts'
import { hosts } from '../../kube/host-resource.ts'
import { role } from '../../kube/rbac.ts'
import { testBench } from '../../kube/testing/kube-test-bench.ts'
import { TestObjects } from '../../kube/testing/fake-kube-api.ts'
import { clusterWith, planInput } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { describeChanges } from './changes.ts'
import { objectChanges } from './object-changes.ts'
import { ownObjects, partLabel } from './managed-objects.ts'
import { putObjects, removeHost } from './apply-objects.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})
const { serve, clientOf } = testBench(() => authority)

const hostsPath = '/apis/hyperkube.dev/v1/hosts'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: w1, nodeName: one.example.com, address: 10.0.0.2, roles: [worker] }',
  '{ name: db1, address: 10.0.0.3, roles: [etcd] }',
)
const rights = [role('hyperkube:controller:some', []), role('hyperkube:controller:more', [])]

function wishOf(wished: Cluster, of = rights) {
  return ownObjects({ cluster: wished, plans: planCluster(planInput(wished)).plans, rights: of })
}

/** An API that takes some time to take up a definition, and until then knows nothing of its kind. */
async function stage() {
  const objects = new TestObjects()
  let looks = 0
  const answer = (asked: Asked): TestAnswer => {
    const definition = `${definitions}/hosts.hyperkube.dev`
    const established = objects.get(definition)?.['status'] !== undefined
    if (asked.path.startsWith(hostsPath) && !established) return { status: 404, text: '404 page not found' }
    if (asked.path === definition && asked.method === 'GET' && ++looks === 3) {
      for (const { metadata } of objects.all(definitions)) {
        const status = { conditions: [{ type: 'Established', status: 'True' }] }
        objects.change(`${definitions}/${metadata.name}`, { status })
      }
    }
    return objects.answer(asked)
  }
  const { url, asked } = await serve(answer)
  const api = clientOf([url])
  const up = async (wish = wishOf(cluster)): Promise<string[]> => {
    const changes = await objectChanges(api, wish)
    await putObjects(api, changes)
    return describeChanges(changes)
  }
  const namesOf = (path: string): string[] => objects.all(path).map(({ metadata }) => metadata.name)
  return { objects, asked, api, up, namesOf }
}

test('the first time all is put there, hosts once the API knows what they are; the second time nothing', async () => {
  const { objects, asked, up, namesOf } = await stage()
  const first = await up()
  expect(first).toContain('CustomResourceDefinition hosts.hyperkube.dev')
  expect(first).toContain('ClusterRole hyperkube:flannel')
  expect(first.at(-1)).toBe('what the cluster keeps of cp1, one.example.com')
  expect(hosts.schema.parse(objects.get(`${hostsPath}/one.example.com`)).spec).toEqual({
    names: { dns: ['one.example.com'], ip: ['10.0.0.2'] },
  })
  // A host that is a member of etcd alone has no way to the API.
  expect(namesOf(hostsPath)).toEqual(['cp1', 'one.example.com'])
  expect(namesOf(roles)).toContain('hyperkube:host:one.example.com')
  const before = asked.length
  expect(await up()).toEqual([])
  expect(asked.slice(before).filter(({ method }) => method !== 'GET')).toEqual([])
})

test('what controllers have asked of a host stays, and what somebody has changed of ours does not', async () => {
  const { objects, up } = await stage()
  await up()
  objects.change(`${hostsPath}/cp1`, { spec: { requests: [{ id: 'x' }], names: { ip: ['6.6.6.6'] } } })
  objects.change(`${roles}/${encodeURIComponent('hyperkube:controller:some')}`, { rules: [{ verbs: ['*'] }] })
  expect(await up()).toEqual(['rights of some', 'what the cluster keeps of cp1'])
  expect(objects.get(`${hostsPath}/cp1`)).toMatchObject({
    spec: { requests: [{ id: 'x' }], names: { ip: ['10.0.0.1'] } },
  })
})

test('a controller that is off loses its rights, and what is not ours stays', async () => {
  const { objects, up, namesOf } = await stage()
  await up()
  objects.put(`${roles}/theirs`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' })
  const some = wishOf(cluster, rights.slice(0, 1))
  expect(await up(some)).toEqual(['rights of more, which goes'])
  expect(namesOf(roles)).toContain('theirs')
  expect(namesOf(roles)).not.toContain('hyperkube:controller:more')
  expect(await up(some)).toEqual([])
})

test('a host that does not answer keeps what is its own, one that has left does not', async () => {
  const { objects, api, up, namesOf } = await stage()
  await up()
  const silent = wishOf(cluster)
  const ofControlPlane = silent.marked.filter(({ metadata }) => !metadata.name.endsWith('one.example.com'))
  expect(await up({ ...silent, marked: ofControlPlane })).toEqual([])
  const [controlPlane] = cluster.spec.hosts
  const rest = { ...cluster, spec: { ...cluster.spec, hosts: [controlPlane].flatMap((one) => one ?? []) } }
  // As long as its node is there, it is about to leave.
  objects.put('/api/v1/nodes/one.example.com', { apiVersion: 'v1', kind: 'Node' })
  expect(await up(wishOf(rest))).toEqual([])
  objects.remove('/api/v1/nodes/one.example.com')
  expect(await up(wishOf(rest))).toEqual(['what the cluster keeps of one.example.com, which goes'])
  expect([...namesOf(hostsPath), ...namesOf(roles)].join()).not.toContain('one.example.com')
  await removeHost(api, 'cp1')
  await removeHost(api, 'cp1')
  expect(namesOf(hostsPath)).toEqual([])
})

test('without controllers nothing of all that is there', async () => {
  const { objects, up, namesOf } = await stage()
  await up()
  const none = wishOf({ ...cluster, spec: { ...cluster.spec, manager: 'none' } })
  const gone = await up(none)
  expect(gone).toContain('CustomResourceDefinition clusterstatuses.hyperkube.dev, which goes')
  expect(gone.at(-1)).toBe('what the cluster keeps of cp1, one.example.com, which goes')
  expect(namesOf(definitions)).toEqual([])
  const marked = [hostsPath, roles].flatMap((path) => objects.all(path))
  expect(marked.filter(({ metadata }) => partLabel in (metadata.labels ?? {}))).toEqual([])
  expect(namesOf(roles)).toContain('hyperkube:flannel')
  expect(await up(none)).toEqual([])
})
