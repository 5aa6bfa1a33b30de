import { beforeAll, expect, test } from 'vitest'
import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { buildRole } from '../../kube/rbac.ts'
import { FakeKubeApi } from '../../kube/testing/fake-kube-api.ts'
import { refuseRemovedHost } from '../../kube/removed-hosts.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import type { PlanInput } from '../../plan/context.ts'
import { planCluster, type PlanResult } from '../../plan/plan.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { checkChangedAddresses } from '../proposal/address-findings.ts'
import { describeObjectChanges } from './changes.ts'
import { buildManagedObjects } from './managed-objects.ts'
import { applyObjectChanges, findObjectChanges, removeHostObjects } from './object-changes.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})
const { serve, createClient } = createKubeTestBench(() => ca)

const hostsPath = '/apis/hyperkube.dev/v1/hosts'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

const cluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: w1, nodeName: one.example.com, address: 10.0.0.2, roles: [worker] }',
  '{ name: db1, address: 10.0.0.3, roles: [etcd] }',
)
const byInterface = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: w1, address: w1.example.com, interface: eth0, roles: [worker] }',
)
const rules = [buildRole('hyperkube:controller:some', []), buildRole('hyperkube:controller:more', [])]

function buildDesired(desiredCluster: Cluster, of = rules) {
  return buildManagedObjects({
    cluster: desiredCluster,
    plans: planCluster(buildPlanInput(desiredCluster)).plans,
    rules: of,
  })
}

/** An API that needs some time to establish the Host CRD. Until then it returns 404 for Host objects. */
async function setup() {
  const objects = new FakeKubeApi()
  let polls = 0
  const respond = (request: ReceivedRequest): TestResponse => {
    const definition = `${definitions}/hosts.hyperkube.dev`
    const established = objects.get(definition)?.['status'] !== undefined
    if (request.path.startsWith(hostsPath) && !established) return { status: 404, text: '404 page not found' }
    if (request.path === definition && request.method === 'GET' && ++polls === 3) {
      for (const { metadata } of objects.all(definitions)) {
        const status = { conditions: [{ type: 'Established', status: 'True' }] }
        objects.change(`${definitions}/${metadata.name}`, { status })
      }
    }
    return objects.respond(request)
  }
  const { url, requests } = await serve(respond)
  const api = createClient([url])
  const up = async (desired = buildDesired(cluster)): Promise<string[]> => {
    const changes = await findObjectChanges(api, desired)
    await applyObjectChanges(api, changes)
    return describeObjectChanges(changes)
  }
  const namesOf = (path: string): string[] => objects.all(path).map(({ metadata }) => metadata.name)
  return { objects, requests, api, up, namesOf }
}

test('the first apply creates all objects, Host objects after their CRD is established; the second changes nothing', async () => {
  const { objects, requests, up, namesOf } = await setup()
  const first = await up()
  expect(first).toContain('CustomResourceDefinition hosts.hyperkube.dev')
  expect(first).toContain('ClusterRole hyperkube:flannel')
  expect(first.at(-1)).toBe('cluster objects of cp1, one.example.com')
  const { spec } = hostKind.schema.parse(objects.get(`${hostsPath}/one.example.com`))
  expect(spec).toMatchObject({
    names: { dns: ['one.example.com'], ip: ['10.0.0.2'] },
    etcdMember: false,
  })
  // A node may renew each certificate of its plan, and each subject names this node.
  expect(spec.certificates?.map((one) => `${one.ca} ${one.subject.commonName}`)).toEqual([
    'kubernetes hyperkube:apiserver-proxy:w1',
    'kubernetes system:node:one.example.com',
    'kubernetes hyperkube:flannel:one.example.com',
    'kubernetes hyperkube:kube-proxy:one.example.com',
    'kubernetes hyperkube:kube-router:one.example.com',
  ])
  expect(objects.get(`${hostsPath}/cp1`)).toMatchObject({ spec: { certificates: [] } })
  // Host db1 is only an etcd member and does not use the API, so it has no Host object.
  expect(namesOf(hostsPath)).toEqual(['cp1', 'one.example.com'])
  expect(namesOf(roles)).toContain('hyperkube:host:one.example.com')
  const before = requests.length
  expect(await up()).toEqual([])
  expect(requests.slice(before).filter(({ method }) => method !== 'GET')).toEqual([])
})

test('a host that reports another address than in its last plan is an error', async () => {
  const { api, up } = await setup()
  const reported = (address: string): PlanInput =>
    buildPlanInput(byInterface, ({ name }) =>
      name === 'w1' ? { linux: { addresses: [{ interface: 'eth0', address, prefix: 24 }] } } : {},
    )
  const [before, after] = [planCluster(reported('10.0.0.2')), planCluster(reported('10.0.0.99'))]
  const buildFor = ({ plans }: PlanResult) => buildManagedObjects({ cluster: byInterface, plans, rules })
  await up(buildFor(before))
  const check = async (result: PlanResult, of = byInterface) =>
    checkChangedAddresses(of, result.plans, await findObjectChanges(api, buildFor(result)))
  expect(await check(before)).toEqual([])
  expect(await check(after)).toMatchObject([
    {
      code: 'HOST_ADDRESS_CHANGED',
      severity: 'error',
      host: 'w1',
      message: 'the host reports the address 10.0.0.99; its last plan has 10.0.0.2',
      hint: expect.stringContaining('internalAddress: 10.0.0.99'),
    },
  ])
  // The operator has set the new address in cluster.yml, so the change is not reported.
  const chosen = buildTestCluster(
    '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
    '{ name: w1, address: w1.example.com, internalAddress: 10.0.0.99, roles: [worker] }',
  )
  expect(await check(after, chosen)).toEqual([])
})

test('requests of controllers stay, and foreign changes to managed fields are reverted', async () => {
  const { objects, up } = await setup()
  await up()
  objects.change(`${hostsPath}/cp1`, { spec: { requests: [{ id: 'x' }], names: { ip: ['6.6.6.6'] } } })
  objects.change(`${roles}/${encodeURIComponent('hyperkube:controller:some')}`, { rules: [{ verbs: ['*'] }] })
  expect(await up()).toEqual(['RBAC rules of some', 'cluster objects of cp1'])
  expect(objects.get(`${hostsPath}/cp1`)).toMatchObject({
    spec: { requests: [{ id: 'x' }], names: { ip: ['10.0.0.1'] } },
  })
})

test('RBAC rules of a disabled controller are removed, and foreign ClusterRoles stay', async () => {
  const { objects, up, namesOf } = await setup()
  await up()
  objects.put(`${roles}/theirs`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' })
  const some = buildDesired(cluster, rules.slice(0, 1))
  expect(await up(some)).toEqual(['RBAC rules of more (removed)'])
  expect(namesOf(roles)).toContain('theirs')
  expect(namesOf(roles)).not.toContain('hyperkube:controller:more')
  expect(await up(some)).toEqual([])
})

test('profile cis disables token mounts of default service accounts; without it the policy is pruned', async () => {
  const { objects, up, namesOf } = await setup()
  await up()
  const security = { ...cluster.spec.security, profile: 'cis' as const }
  const cis = buildDesired({ ...cluster, spec: { ...cluster.spec, security } })
  expect(await up(cis)).toEqual([
    ...Array.from({ length: 4 }, () => 'ServiceAccount default'),
    'MutatingAdmissionPolicy default-accounts.hyperkube.dev',
    'MutatingAdmissionPolicyBinding default-accounts.hyperkube.dev',
  ])
  expect(objects.get('/api/v1/namespaces/kube-system/serviceaccounts/default')).toMatchObject({
    automountServiceAccountToken: false,
  })
  expect(await up(cis)).toEqual([])
  expect(await up()).toEqual([
    'MutatingAdmissionPolicy default-accounts.hyperkube.dev (removed)',
    'MutatingAdmissionPolicyBinding default-accounts.hyperkube.dev (removed)',
  ])
  expect(namesOf('/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies')).toEqual([])
})

test('objects of an unreachable host stay; those of a removed host are removed with its node', async () => {
  const { objects, api, up, namesOf } = await setup()
  await up()
  const silent = buildDesired(cluster)
  const ofControlPlane = silent.labelled.filter(({ metadata }) => !metadata.name.endsWith('one.example.com'))
  expect(await up({ ...silent, labelled: ofControlPlane })).toEqual([])
  const remaining = cluster.spec.hosts.filter(({ name }) => name !== 'w1')
  const rest = { ...cluster, spec: { ...cluster.spec, hosts: remaining } }
  // While the node exists, the removal of the host is not complete and its objects stay.
  objects.put('/api/v1/nodes/one.example.com', { apiVersion: 'v1', kind: 'Node' })
  expect(await up(buildDesired(rest))).toEqual([])
  objects.remove('/api/v1/nodes/one.example.com')
  expect(await up(buildDesired(rest))).toEqual(['cluster objects of one.example.com (removed)'])
  expect([...namesOf(hostsPath), ...namesOf(roles)].join()).not.toContain('one.example.com')
  await removeHostObjects(api, 'cp1')
  await removeHostObjects(api, 'cp1')
  expect(namesOf(hostsPath)).toEqual([])
})

test('a removed host is refused by the API until cluster.yml has its name again', async () => {
  const { objects, api, up } = await setup()
  const path = '/api/v1/namespaces/kube-system/configmaps/hyperkube-removed-hosts'
  // A lost host is removed before the cluster objects are created, so the ConfigMap does not exist yet.
  await refuseRemovedHost(api, 'gone', new Date('2026-11-17T10:00:00Z'))
  await up()
  expect(await up()).toEqual([])
  await refuseRemovedHost(api, 'one.example.com', new Date('2026-11-17T11:00:00Z'))
  expect(objects.get(path)).toMatchObject({
    data: { gone: '2026-11-17T10:00:00.000Z', 'one.example.com': '2026-11-17T11:00:00.000Z' },
  })
  expect(await up()).toContain('API access of one.example.com, a name that was removed before')
  expect(objects.get(path)?.['data']).toEqual({ gone: '2026-11-17T10:00:00.000Z' })
  expect(await up()).toEqual([])
})

test('without controllers their objects are removed, and the objects of hosts stay', async () => {
  const { up, namesOf } = await setup()
  await up()
  const none = buildDesired({ ...cluster, spec: { ...cluster.spec, manager: 'none' } })
  expect(await up(none)).toEqual([
    'CustomResourceDefinition clusterstatuses.hyperkube.dev (removed)',
    'RBAC rules of some, more (removed)',
  ])
  // Control planes need the Host objects to renew certificates, so these objects exist even without
  // controllers.
  expect(namesOf(definitions)).toEqual(['hosts.hyperkube.dev'])
  expect(namesOf(hostsPath)).toEqual(['cp1', 'one.example.com'])
  expect(namesOf(roles)).toContain('hyperkube:flannel')
  expect(await up(none)).toEqual([])
})
