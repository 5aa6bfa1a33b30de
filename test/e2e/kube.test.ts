import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { labKubeconfigPath } from '../../lab/bench/bare-cluster.ts'
import { listProbePods } from '../../lab/bench/workload.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { applyBaseObjects, buildBaseObjects } from '../../src/kube/base-objects.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { buildClusterStatusCrd } from '../../src/kube/cluster-status.ts'
import { buildHostCrd, buildHostRbac, hostKind } from '../../src/kube/host-resource.ts'
import { LeaseLock } from '../../src/kube/lease-lock.ts'
import { createKubeLeaseStore, leases } from '../../src/kube/lease.ts'
import { createUntypedKind, type Manifest } from '../../src/kube/object.ts'
import { getObject, listObjects } from '../../src/kube/read-objects.ts'
import { checkReadiness, getServerVersion } from '../../src/kube/readiness.ts'
import { testObjectContract } from '../../src/kube/testing/object-contract.ts'
import { readPodLogs } from '../../src/kube/testing/pod-logs.ts'
import { applyObject } from '../../src/kube/write-objects.ts'
import { addPartLabel, type ManagedObjects } from '../../src/lifecycle/cluster-objects/managed-objects.ts'
import { applyObjectChanges, findObjectChanges } from '../../src/lifecycle/cluster-objects/object-changes.ts'
import { type KubectlCluster, startKubectlCluster } from '../support/kubectl-cluster.ts'
import { openFreshLab } from '../support/lab.ts'

let lab: Lab
let cluster: KubectlCluster
let cp1: Host
let client: KubeClient
const { signal } = new AbortController()
const configMaps = createUntypedKind('v1', 'ConfigMap')

beforeAll(async () => {
  lab = await openFreshLab('kube')
  cluster = await startKubectlCluster(lab, '1+1')
  cp1 = await lab.host('cp1')
  client = createClient(await readFile(labKubeconfigPath(lab), 'utf8'))
})
afterAll(async () => {
  try {
    client.close()
    cluster.api.close()
  } finally {
    await lab.down()
  }
})

const base64 = z.base64().transform((text) => Buffer.from(text, 'base64').toString('utf8'))
const kubeconfig = z.looseObject({
  clusters: z.tuple([z.looseObject({ cluster: z.looseObject({ 'certificate-authority-data': base64 }) })]),
  users: z.tuple([
    z.looseObject({ user: z.looseObject({ 'client-certificate-data': base64, 'client-key-data': base64 }) }),
  ]),
})

/** Creates a client for the API server of cp1 with the credentials of a kubeconfig. */
function createClient(text: string): KubeClient {
  const { clusters, users } = kubeconfig.parse(parse(text))
  const { user } = users[0]
  return new KubeClient({
    servers: [`https://${cp1.address}:6443`],
    ca: clusters[0].cluster['certificate-authority-data'],
    credentials: { certificate: user['client-certificate-data'], privateKey: user['client-key-data'] },
    signal,
  })
}

function configMap(name: string, data: Record<string, string>): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }
}

const toRef = (name: string): { namespace: string; name: string } => ({ namespace: 'default', name })

test('the API server is ready and returns its version', async () => {
  expect(await checkReadiness(client, `https://${cp1.address}:6443`)).toEqual({ ready: true })
  expect(await getServerVersion(client)).toMatchObject({ gitVersion: 'v1.37.1' })
})

describe('the objects that controllers and hosts need', () => {
  const { apiVersion, kind } = hostKind
  // w9 has no node, because hyperkube keeps the objects of a host while its node exists.
  const names = { dns: ['w9'], ip: ['10.0.0.2'] }
  const host = { apiVersion, kind, metadata: { name: 'w9' }, spec: { names } }
  const manifests = [buildHostCrd(), buildClusterStatusCrd(), ...buildHostRbac('w9'), host].map(addPartLabel)
  const desired = { base: [], labelled: manifests, nodes: new Set(['w9']) }
  const reconcile = async (objects: ManagedObjects): Promise<number> => {
    const changes = await findObjectChanges(client, objects)
    await applyObjectChanges(client, changes)
    return changes.length
  }

  test('are applied after the API serves their kinds, and need no further change', async () => {
    expect(await reconcile(desired)).toBe(manifests.length)
    expect(await findObjectChanges(client, desired)).toEqual([])
    expect(await getObject(client, hostKind, { name: 'w9' })).toMatchObject({ spec: { names } })
  })

  test('are removed, and created again while some are still terminating', async () => {
    const none = { base: [], labelled: [], nodes: new Set<string>() }
    expect(await reconcile(none)).toBe(manifests.length)
    expect(await reconcile(desired)).toBe(manifests.length)
    await reconcile(none)
    expect(await findObjectChanges(client, none)).toEqual([])
  })
})

describe('the objects that every cluster has', () => {
  test('are applied, and a second apply changes nothing', async () => {
    const first = await applyBaseObjects(client, { windows: true })
    const second = await applyBaseObjects(client, { windows: true })
    // Policies are left out: kube-controller-manager writes the result of its type check to their status,
    // which changes their version.
    const versions = (objects: typeof first): unknown[] =>
      objects
        .filter(({ kind }) => kind !== 'ValidatingAdmissionPolicy')
        .map(({ kind, metadata }) => [kind, metadata.name, metadata.resourceVersion])
    expect(first).toHaveLength(buildBaseObjects({ windows: true }).length)
    expect(versions(second)).toEqual(versions(first))
  })

  interface AccessReview {
    readonly user: string
    readonly groups?: readonly string[]
    readonly verb: string
    readonly resource: string
    readonly group?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }

  const csr = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' }
  const signers = { group: 'certificates.k8s.io', resource: 'signers' }
  const review = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) })

  async function isAllowed({ user, groups = [], ...resourceAttributes }: AccessReview): Promise<boolean> {
    const response = await client.request({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: { spec: { user, groups, resourceAttributes } },
    })
    return review.parse(response).status.allowed
  }

  const flannel = { user: 'hyperkube:flannel:w1', groups: ['hyperkube:flannel'] }
  const kubeProxy = { user: 'hyperkube:kube-proxy:w1', groups: ['hyperkube:kube-proxies'] }
  const kubeRouter = { user: 'hyperkube:kube-router:w1', groups: ['hyperkube:kube-routers'] }
  const proxy = { user: 'hyperkube:apiserver-proxy:w1', groups: ['hyperkube:apiserver-proxies'] }
  const slices = { group: 'discovery.k8s.io', resource: 'endpointslices', namespace: 'default' }
  const kubelets = { user: 'kube-apiserver-kubelet-client' }

  test.each<[boolean, AccessReview]>([
    [true, { ...flannel, verb: 'watch', resource: 'nodes' }],
    [true, { ...flannel, verb: 'patch', resource: 'nodes', subresource: 'status' }],
    [false, { ...flannel, verb: 'patch', resource: 'nodes' }],
    [false, { ...flannel, verb: 'list', resource: 'secrets' }],
    [true, { ...kubeProxy, verb: 'watch', resource: 'services' }],
    [false, { ...kubeProxy, verb: 'list', resource: 'secrets' }],
    [true, { ...kubeRouter, verb: 'watch', resource: 'pods' }],
    [true, { ...kubeRouter, verb: 'list', group: 'networking.k8s.io', resource: 'networkpolicies' }],
    [false, { ...kubeRouter, verb: 'list', resource: 'secrets' }],
    [false, { ...kubeRouter, verb: 'patch', resource: 'pods' }],
    [true, { ...proxy, ...slices, verb: 'get', name: 'kubernetes' }],
    [false, { ...proxy, ...slices, verb: 'get', name: 'another' }],
    [false, { ...proxy, ...slices, verb: 'get', name: 'kubernetes', namespace: 'kube-system' }],
    [true, { ...kubelets, verb: 'get', resource: 'nodes', subresource: 'log' }],
    [true, { user: 'jane', groups: ['hyperkube:admins'], verb: 'delete', resource: 'nodes' }],
    [false, { user: 'jane', verb: 'delete', resource: 'nodes' }],
    // Kubelets must not get automatic approval of their own CSRs. Agents that have the CA key approve and
    // sign renewal requests instead.
    [
      false,
      {
        user: 'system:node:w1',
        groups: ['system:nodes'],
        ...csr,
        verb: 'create',
        subresource: 'selfnodeclient',
      },
    ],
    [true, { user: 'hyperkube:agent', ...csr, verb: 'update', subresource: 'approval' }],
    [true, { user: 'hyperkube:agent', ...signers, verb: 'sign', name: 'hyperkube.dev/renewal' }],
    [
      false,
      { user: 'hyperkube:agent', ...signers, verb: 'sign', name: 'kubernetes.io/kube-apiserver-client' },
    ],
  ])('RBAC allows (%j): %j', async (allowed, access) => {
    expect(await isAllowed(access)).toBe(allowed)
  })
})

describe('objects', () => {
  testObjectContract(() => client)

  test('with fields of another manager are changed only with force', async () => {
    await cluster.kubectl(['create', 'configmap', 'four', '--from-literal=word=theirs'])
    const ourManifest = configMap('four', { word: 'ours' })
    await expect(applyObject(client, ourManifest)).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      causes: [{ reason: 'FieldManagerConflict', field: '.data.word' }],
    })
    expect(await applyObject(client, ourManifest, { force: true })).toMatchObject({ data: { word: 'ours' } })
  })

  test('that are invalid are refused with the name of the field', async () => {
    await expect(applyObject(client, { ...configMap('five', {}), dat: {} })).rejects.toMatchObject({
      code: 'KUBE_INVALID',
      apiMessage: expect.stringContaining('.dat'),
    })
    const invalid = { ...configMap('Five!', {}), metadata: { name: 'Five!', namespace: 'default' } }
    await expect(applyObject(client, invalid)).rejects.toMatchObject({
      code: 'KUBE_INVALID',
      causes: [{ field: 'metadata.name' }],
    })
  })

  test('are forbidden to users without RBAC rules', async () => {
    const { stdout } = await cp1.exec(['cat', '/etc/kubernetes/flannel.conf'])
    using flannel = createClient(stdout)
    await expect(listObjects(flannel, createUntypedKind('v1', 'Secret'))).rejects.toMatchObject({
      code: 'KUBE_FORBIDDEN',
      message: expect.stringContaining('User "flannel" cannot list resource "secrets"'),
    })
  })
})

test('250 objects are listed in pages of 50, each once', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `paged-${String(index).padStart(3, '0')}`)
  const labels = { paged: 'yes' }
  await Promise.all(
    names.map(async (name) =>
      applyObject(
        client,
        { ...configMap(name, {}), metadata: { ...toRef(name), labels } },
        { timeout: 100_000 },
      ),
    ),
  )
  const { items, resourceVersion } = await listObjects(client, configMaps, { labels: 'paged=yes', limit: 50 })
  expect(items.map(({ metadata }) => metadata.name)).toEqual(names)
  expect(Number(resourceVersion)).toBeGreaterThan(0)
  const { items: few } = await listObjects(client, configMaps, {
    labels: 'paged=yes',
    namespace: 'kube-system',
  })
  expect(few).toEqual([])
})

describe('a lease', () => {
  const contender = (identity: string, duration: number): LeaseLock =>
    new LeaseLock(createKubeLeaseStore(client, toRef('lease'), duration / 3), { identity, duration })

  test('is held by one of two contenders, and acquired by the other after its release', async () => {
    const [a, b] = [contender('a', 15_000), contender('b', 15_000)]
    const both = await Promise.all([a.tryAcquire(), b.tryAcquire()])
    expect(both.filter(({ held }) => held)).toHaveLength(1)
    const [holder, other] = both[0].held ? [a, b] : [b, a]
    expect(await other.tryAcquire()).toMatchObject({ held: false, holder: both[0].held ? 'a' : 'b' })
    expect((await holder.tryAcquire()).held).toBe(true)
    expect(await holder.release()).toBe(true)
    expect((await other.acquire(100, signal)).held).toBe(true)

    const { spec } = await getObject(client, leases, toRef('lease'))
    expect(spec).toMatchObject({ holderIdentity: both[0].held ? 'b' : 'a', leaseTransitions: 1 })
    expect(spec?.renewTime).toMatch(/\.\d{6}Z$/)
    await other.release()
  })

  test('expires when it is not renewed', async () => {
    // Requests for the lease time out after a third of its duration, here after three seconds. This is enough
    // even for a slow machine.
    const [expired, next] = [contender('expired', 9000), contender('next', 9000)]
    const started = performance.now()
    await expired.acquire(100, signal)
    await next.acquire(250, signal)
    expect(performance.now() - started).toBeGreaterThanOrEqual(9000)
    expect((await expired.tryAcquire()).held).toBe(false)
  })
})

test('the logs of a pod can be read', async () => {
  const [pod] = await listProbePods(cluster.api)
  const logs = await readPodLogs(client, { namespace: 'default', name: pod?.name ?? '' })
  expect(logs).toContain('Started HTTP server')
})

test('no request fails during a restart of the API server', async () => {
  const unit = async (property: string): Promise<string> =>
    (await cp1.exec(['systemctl', 'show', '-p', property, '--value', 'kube-apiserver'])).stdout.trim()
  const before = await unit('MainPID')
  const restarted = new AbortController()
  const restart = cp1.exec(['systemctl', 'restart', 'kube-apiserver']).finally(() => restarted.abort())
  let round = 0
  do {
    round++
    const data = { turn: String(round) }
    await applyObject(client, configMap('through', data), { timeout: 100_000 })
    expect((await getObject(client, configMaps, toRef('through'), { timeout: 100_000 }))['data']).toEqual(
      data,
    )
  } while (!restarted.signal.aborted)
  await restart
  expect(await unit('MainPID')).not.toBe(before)
  expect(round).toBeGreaterThan(1)
})

test('a server without etcd is not ready for that reason, and an unreachable server is not ready', async () => {
  const server = `https://${cp1.address}:6443`
  await cp1.exec(['systemctl', 'stop', 'etcd'])
  try {
    await pollUntil(
      'the API server to miss etcd',
      async () => {
        const observed = await checkReadiness(client, server)
        return !observed.ready && observed.failing.includes('etcd')
      },
      { timeoutMs: 60_000 },
    )
  } finally {
    await cp1.exec(['systemctl', 'start', 'etcd'])
  }
  expect(await checkReadiness(client, `https://${cp1.address}:1`)).toMatchObject({
    ready: false,
    failing: [],
  })
})
