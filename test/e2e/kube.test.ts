import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { kubeconfigFile } from '../../lab/bench/bare-cluster.ts'
import { probePods } from '../../lab/bench/workload.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { until } from '../../src/kit/poll-until.ts'
import { applyBaseObjects, baseObjects } from '../../src/kube/base-objects.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { clusterStatusDefinition } from '../../src/kube/cluster-status.ts'
import { hostDefinition, hostRights, hosts } from '../../src/kube/host-resource.ts'
import { LeaseLock } from '../../src/kube/lease-lock.ts'
import { kubeLeaseStore } from '../../src/kube/lease-store.ts'
import { leases } from '../../src/kube/lease.ts'
import { podLogs } from '../../src/kube/testing/pod-logs.ts'
import { kindOf, type Manifest } from '../../src/kube/object.ts'
import { exists, get, list } from '../../src/kube/read-objects.ts'
import { ready, version } from '../../src/kube/readiness.ts'
import { apply, create, patchStatus, remove, replace } from '../../src/kube/write-objects.ts'
import { objectChanges } from '../../src/lifecycle/cluster-objects/object-changes.ts'
import { marked, type OwnObjects } from '../../src/lifecycle/cluster-objects/managed-objects.ts'
import { putObjects } from '../../src/lifecycle/cluster-objects/apply-objects.ts'
import { bareCluster, type Cluster } from '../support/kubectl-cluster.ts'
import { freshLab } from '../support/lab.ts'

let lab: Lab
let cluster: Cluster
let cp1: Host
let client: KubeClient
const { signal } = new AbortController()
const configMaps = kindOf('v1', 'ConfigMap')

beforeAll(async () => {
  lab = await freshLab('kube')
  cluster = await bareCluster(lab, '1+1')
  cp1 = await lab.host('cp1')
  client = clientOf(await readFile(kubeconfigFile(lab), 'utf8'))
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

/** Whoever a kubeconfig is for, at the one API server there is. */
function clientOf(text: string): KubeClient {
  const { clusters, users } = kubeconfig.parse(parse(text))
  const { user } = users[0]
  return new KubeClient({
    servers: [`https://${cp1.address}:6443`],
    authority: clusters[0].cluster['certificate-authority-data'],
    credentials: { certificate: user['client-certificate-data'], privateKey: user['client-key-data'] },
    signal,
  })
}

function configMap(name: string, data: Record<string, string>): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }
}

const at = (name: string): { namespace: string; name: string } => ({ namespace: 'default', name })

test('the server is ready, and says which version it is', async () => {
  expect(await ready(client, `https://${cp1.address}:6443`)).toEqual({ ready: true })
  expect(await version(client)).toMatchObject({ gitVersion: 'v1.37.1' })
})

describe('the objects that controllers and hosts need', () => {
  const { apiVersion, kind } = hosts
  const names = { dns: ['w1'], ip: ['10.0.0.2'] }
  const host = { apiVersion, kind, metadata: { name: 'w1' }, spec: { names } }
  const some = [hostDefinition, clusterStatusDefinition, ...hostRights('w1'), host].map(marked)
  const wished = { base: [], marked: some, nodes: new Set(['w1']) }
  const up = async (wish: OwnObjects): Promise<number> => {
    const changes = await objectChanges(client, wish)
    await putObjects(client, changes)
    return changes.length
  }

  test('are put there once the API knows their kinds, and are as they were wished then', async () => {
    expect(await up(wished)).toBe(some.length)
    expect(await objectChanges(client, wished)).toEqual([])
    expect(await get(client, hosts, { name: 'w1' })).toMatchObject({ spec: { names } })
  })

  test('go again, and come back while some are still going', async () => {
    const none = { base: [], marked: [], nodes: undefined }
    expect(await up(none)).toBe(some.length)
    expect(await up(wished)).toBe(some.length)
    await up(none)
    expect(await objectChanges(client, none)).toEqual([])
  })
})

describe('the objects that every cluster has', () => {
  test('are applied, and applied again change nothing', async () => {
    const first = await applyBaseObjects(client, { windows: true })
    const second = await applyBaseObjects(client, { windows: true })
    const versions = (objects: typeof first): unknown[] =>
      objects.map(({ kind, metadata }) => [kind, metadata.name, metadata.resourceVersion])
    expect(first).toHaveLength(baseObjects({ windows: true }).length)
    expect(versions(second)).toEqual(versions(first))
  })

  interface Question {
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

  async function may({ user, groups = [], ...resourceAttributes }: Question): Promise<boolean> {
    const answer = await client.request({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: { spec: { user, groups, resourceAttributes } },
    })
    return review.parse(answer).status.allowed
  }

  const flannel = { user: 'hyperkube:flannel' }
  const proxy = { user: 'hyperkube:apiserver-proxy:w1', groups: ['hyperkube:apiserver-proxies'] }
  const slices = { group: 'discovery.k8s.io', resource: 'endpointslices', namespace: 'default' }
  const kubelets = { user: 'kube-apiserver-kubelet-client' }

  test.each<[boolean, Question]>([
    [true, { ...flannel, verb: 'watch', resource: 'nodes' }],
    [true, { ...flannel, verb: 'patch', resource: 'nodes', subresource: 'status' }],
    [false, { ...flannel, verb: 'patch', resource: 'nodes' }],
    [false, { ...flannel, verb: 'list', resource: 'secrets' }],
    [true, { ...proxy, ...slices, verb: 'get', name: 'kubernetes' }],
    [false, { ...proxy, ...slices, verb: 'get', name: 'another' }],
    [false, { ...proxy, ...slices, verb: 'get', name: 'kubernetes', namespace: 'kube-system' }],
    [true, { ...kubelets, verb: 'get', resource: 'nodes', subresource: 'log' }],
    [true, { user: 'somebody', groups: ['hyperkube:admins'], verb: 'delete', resource: 'nodes' }],
    [false, { user: 'somebody', verb: 'delete', resource: 'nodes' }],
    // Kubelets get no certificates for themselves; agents answer those that nodes ask for.
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
  ])('%j: %j', async (allowed, question) => {
    expect(await may(question)).toBe(allowed)
  })
})

describe('objects', () => {
  test('are made, read, changed and removed', async () => {
    expect(await exists(client, configMaps, at('one'))).toBe(false)
    await apply(client, configMap('one', { word: 'first' }))
    expect(await get(client, configMaps, at('one'))).toMatchObject({ data: { word: 'first' } })
    await apply(client, configMap('one', { other: 'second' }))
    expect((await get(client, configMaps, at('one')))['data']).toEqual({ other: 'second' })
    expect(await remove(client, configMaps, at('one'))).toBe(true)
    expect(await remove(client, configMaps, at('one'))).toBe(false)
  })

  test('that are there already cannot be created', async () => {
    await create(client, configMap('two', {}))
    await expect(create(client, configMap('two', {}))).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      reason: 'AlreadyExists',
      status: 409,
    })
  })

  test('that were changed meanwhile are not replaced', async () => {
    const seen = await create(client, configMap('three', { turn: '1' }))
    await replace(client, { ...seen, data: { turn: '2' } })
    await expect(replace(client, { ...seen, data: { turn: '3' } })).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      reason: 'Conflict',
    })
    const stale = remove(client, configMaps, at('three'), {
      resourceVersion: seen.metadata.resourceVersion ?? '',
    })
    await expect(stale).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
    const other = remove(client, configMaps, at('three'), { uid: '00000000-0000-4000-8000-000000000000' })
    await expect(other).rejects.toMatchObject({ code: 'KUBE_CONFLICT' })
    expect(await exists(client, configMaps, at('three'))).toBe(true)
  })

  test('whose fields are others’ are taken only by force', async () => {
    await cluster.kubectl(['create', 'configmap', 'four', '--from-literal=word=theirs'])
    const ours = configMap('four', { word: 'ours' })
    await expect(apply(client, ours)).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      causes: [{ reason: 'FieldManagerConflict', field: '.data.word' }],
    })
    expect(await apply(client, ours, { force: true })).toMatchObject({ data: { word: 'ours' } })
  })

  test('that are wrong are refused, with the place', async () => {
    await expect(apply(client, { ...configMap('five', {}), dat: {} })).rejects.toMatchObject({
      code: 'KUBE_INVALID',
      said: expect.stringContaining('.dat'),
    })
    const invalid = { ...configMap('Five!', {}), metadata: { name: 'Five!', namespace: 'default' } }
    await expect(apply(client, invalid)).rejects.toMatchObject({
      code: 'KUBE_INVALID',
      causes: [{ field: 'metadata.name' }],
    })
  })

  test('are not for everybody', async () => {
    const { stdout } = await cp1.exec(['cat', '/etc/kubernetes/flannel.conf'])
    using flannel = clientOf(stdout)
    await expect(list(flannel, kindOf('v1', 'Secret'))).rejects.toMatchObject({
      code: 'KUBE_FORBIDDEN',
      message: expect.stringContaining('User "flannel" cannot list resource "secrets"'),
    })
  })

  test('of kinds that were made a moment ago are found', async () => {
    const widgets = kindOf('example.org/v1', 'Widget')
    await expect(exists(client, widgets, at('w'))).rejects.toMatchObject({ code: 'KUBE_KIND_UNKNOWN' })
    await apply(client, widgetDefinition)
    const widget = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: at('w') }
    await until('widgets to be served', async () => apply(client, { ...widget, spec: { size: 3 } }), {
      within: 30_000,
    })
    await patchStatus(client, { ...widget, status: { phase: 'Fine' } })
    expect(await get(client, widgets, at('w'))).toMatchObject({
      spec: { size: 3 },
      status: { phase: 'Fine' },
    })
  })

  const widgetDefinition: Manifest = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
})

test('250 objects come in pages of 50, each once', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `paged-${String(index).padStart(3, '0')}`)
  const labels = { paged: 'yes' }
  await Promise.all(
    names.map(async (name) =>
      apply(client, { ...configMap(name, {}), metadata: { ...at(name), labels } }, { timeout: 100_000 }),
    ),
  )
  const { items, resourceVersion } = await list(client, configMaps, { labels: 'paged=yes', limit: 50 })
  expect(items.map(({ metadata }) => metadata.name)).toEqual(names)
  expect(Number(resourceVersion)).toBeGreaterThan(0)
  const { items: few } = await list(client, configMaps, { labels: 'paged=yes', namespace: 'kube-system' })
  expect(few).toEqual([])
})

describe('a lease', () => {
  const contender = (identity: string, duration: number): LeaseLock =>
    new LeaseLock(kubeLeaseStore(client, at('lease'), duration / 3), { identity, duration })

  test('is held by one of two, given back, and taken when its holder is gone', async () => {
    const [a, b] = [contender('a', 15_000), contender('b', 15_000)]
    const both = await Promise.all([a.tryHold(), b.tryHold()])
    expect(both.filter(({ held }) => held)).toHaveLength(1)
    const [holder, other] = both[0].held ? [a, b] : [b, a]
    expect(await other.tryHold()).toMatchObject({ held: false, holder: both[0].held ? 'a' : 'b' })
    expect((await holder.tryHold()).held).toBe(true)
    expect(await holder.release()).toBe(true)
    expect((await other.acquire(100, signal)).held).toBe(true)

    const { spec } = await get(client, leases, at('lease'))
    expect(spec).toMatchObject({ holderIdentity: both[0].held ? 'b' : 'a', leaseTransitions: 1 })
    expect(spec?.renewTime).toMatch(/\.\d{6}Z$/)
    await other.release()
  })

  test('runs out when nobody renews it', async () => {
    // Long enough for a slow machine to answer in a third of it.
    const [gone, next] = [contender('gone', 9000), contender('next', 9000)]
    const started = performance.now()
    await gone.acquire(100, signal)
    await next.acquire(250, signal)
    expect(performance.now() - started).toBeGreaterThanOrEqual(9000)
    expect((await gone.tryHold()).held).toBe(false)
  })
})

test('what a pod said can be read', async () => {
  const [pod] = await probePods(cluster.api)
  const logs = await podLogs(client, { namespace: 'default', name: pod?.name ?? '' })
  expect(logs).toContain('Started HTTP server')
})

test('a restart of the API server is outlived: no request fails', async () => {
  const unit = async (property: string): Promise<string> =>
    (await cp1.exec(['systemctl', 'show', '-p', property, '--value', 'kube-apiserver'])).stdout.trim()
  const before = await unit('MainPID')
  const over = new AbortController()
  const restart = cp1.exec(['systemctl', 'restart', 'kube-apiserver']).finally(() => over.abort())
  let turn = 0
  do {
    turn++
    const data = { turn: String(turn) }
    await apply(client, configMap('through', data), { timeout: 100_000 })
    expect((await get(client, configMaps, at('through'), { timeout: 100_000 }))['data']).toEqual(data)
  } while (!over.signal.aborted)
  await restart
  expect(await unit('MainPID')).not.toBe(before)
  expect(turn).toBeGreaterThan(1)
})

test('a server without etcd is not ready, and says why; one that is not there is not either', async () => {
  const server = `https://${cp1.address}:6443`
  await cp1.exec(['systemctl', 'stop', 'etcd'])
  try {
    await until(
      'the API server to miss etcd',
      async () => {
        const seen = await ready(client, server)
        return !seen.ready && seen.failing.includes('etcd')
      },
      { within: 60_000 },
    )
  } finally {
    await cp1.exec(['systemctl', 'start', 'etcd'])
  }
  expect(await ready(client, `https://${cp1.address}:1`)).toMatchObject({ ready: false, failing: [] })
})
