import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { ClusterStatus } from '../../contract/cluster-status.ts'
import type { HostStatus } from '../../contract/host-resource.ts'
import { type TestCa, createTestCa } from '../../kit/testing/test-ca.ts'
import {
  type ReceivedRequest,
  type TestResponse,
  startHttpsTestServer,
} from '../../kit/testing/https-test-server.ts'
import { runHyperkube, createInMemoryContext, type CliResult } from '../testing/run-in-memory.ts'
import { openReportingApi } from './from-api.ts'

let ca: TestCa
let stack: AsyncDisposableStack
/** Objects of the fake API server, by path. */
let objects: Map<string, object>
let respond: (request: ReceivedRequest) => TestResponse
let files: Readonly<Record<string, string>>
beforeAll(async () => {
  ca = await createTestCa()
})
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  objects = new Map()
  respond = respondStored
  const { url } = stack.use(await startHttpsTestServer(ca, (request) => respond(request)))
  files = { 'k.yml': kubeconfig(url) }
})
afterEach(async () => stack.disposeAsync())

function respondStored({ path }: ReceivedRequest): TestResponse {
  const one = objects.get(path)
  if (one !== undefined) return { json: one }
  const items = [...objects].flatMap(([key, object]) => (key.startsWith(`${path}/`) ? [object] : []))
  if (path.endsWith('/nodes') || path.endsWith('/hosts'))
    return { json: { metadata: { resourceVersion: '1' }, items } }
  return { status: 404, json: { kind: 'Status', message: 'not found' } }
}

function store(path: string, object: object): void {
  objects.set(path, { metadata: { name: path.split('/').at(-1) }, ...object })
}

function kubeconfig(server: string): string {
  const data = (text: string): string => Buffer.from(text).toString('base64')
  const { certificate, client } = ca
  const user = {
    'client-certificate-data': data(client.certificate),
    'client-key-data': data(client.privateKey),
  }
  return stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': data(certificate) } }],
    users: [{ name: 'u', user }],
  })
}

const resourceHead = { apiVersion: 'hyperkube.dev/v1' }
const since = '2026-11-15T11:40:00.000Z'

function storeHost(name: string, status: HostStatus): void {
  store(`/apis/hyperkube.dev/v1/hosts/${name}`, { ...resourceHead, kind: 'Host', spec: {}, status })
}

function storeNode(name: string, ready: boolean): void {
  const condition = { type: 'Ready', status: ready ? 'True' : 'Unknown', message: 'kubelet stopped posting' }
  const status = { conditions: [condition], nodeInfo: { kubeletVersion: 'v1.37.1' } }
  store(`/api/v1/nodes/${name}`, { apiVersion: 'v1', kind: 'Node', status })
}

const etcd = {
  ...{ id: 'a', leader: 'a', learner: false, ready: true, version: '3.7.3', size: 1, inUse: 1 },
  ...{ members: [], alarms: [] },
}
const healthyComponent = { component: 'kubelet', state: 'healthy', since } as const

function storeHealthyHost(): void {
  storeNode('cp1', true)
  storeHost('cp1', {
    agent: '0.1.0',
    heartbeat: '2026-11-15T11:59:48.000Z',
    components: [healthyComponent],
    etcd,
  })
}

function storeSummary(more: Partial<ClusterStatus> = {}): void {
  const status: ClusterStatus = {
    ...{ state: 'degraded', since, findings: [] },
    nodes: { all: 2, ready: 1, unschedulable: 0, kubelets: [] },
    hosts: { all: 2, reporting: 1, agents: [] },
    etcd: { members: 1, ready: 1 },
    certificates: { earliestExpiry: '2027-09-01', host: 'cp1' },
    snapshot: { name: 'etcd-2026-11-15T06-00-00Z.db', host: 'cp1' },
    ...more,
  }
  store('/apis/hyperkube.dev/v1/clusterstatuses/cluster', { ...resourceHead, kind: 'ClusterStatus', status })
}

function storeLease(renewTime: string): void {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/hyperkube-controller-manager'
  const spec = { holderIdentity: 'cp1', renewTime }
  store(path, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec })
}

async function shown(more = ''): Promise<CliResult> {
  return runHyperkube(`status --kubeconfig k.yml${more}`, files)
}

test('a kubeconfig alone shows the reported status, the problems and their age', async () => {
  storeHealthyHost()
  storeNode('w1', false)
  storeHost('w1', {
    ...{ agent: '0.1.0', heartbeat: '2026-11-15T11:39:00.000Z', suspended: 'ana holds the operator lock' },
    components: [
      healthyComponent,
      { component: 'flanneld', state: 'exhausted', since, because: 'no answer' },
    ],
    failing: [{ component: 'kubelet', probe: 'disk-space', since, message: '3 % free', code: 'DISK_FULL' }],
  })
  storeSummary()
  storeLease('2026-11-15T11:59:58.000000Z')
  const { code, stdout } = await shown()
  expect(code).toBe(1)
  expect(stdout).toMatchInlineSnapshot(`
    "reported by the cluster through the API; hosts were not checked
    degraded since 2026-11-15T11:40:00Z: 1 of 2 nodes ready, 1 of 2 agents reporting, 1 of 1 etcd members healthy

    HOST  HEARTBEAT        COMPONENTS  ETCD    NODE
    cp1   12.0 s ago       1/1         leader  ready
    w1    21 min 00 s ago  1/2         -       not ready

    w1: no heartbeat from the agent since 2026-11-15T11:39:00Z; to check the host over ssh: hyperkube doctor
    w1: flanneld: exhausted: no answer
    w1: kubelet: disk-space: 3 % free
    w1: node: kubelet stopped posting
    w1: ana holds the operator lock
    certificates: the first to expire is on cp1, on 2027-09-01
    snapshots: the newest is etcd-2026-11-15T06-00-00Z.db on cp1
    "
  `)
})

test('a healthy cluster exits with 0, and -o wide shows versions', async () => {
  storeHealthyHost()
  storeSummary({ state: 'healthy' })
  storeLease('2026-11-15T11:59:58.000000Z')
  const { code, stdout } = await shown(' -o wide')
  expect(code).toBe(0)
  expect(stdout).toContain('v1.37.1  0.1.0')
})

test('a missing summary and a summary without a leader are reported', async () => {
  storeHealthyHost()
  expect((await shown()).stdout).toContain('no controller manager has reported')
  storeSummary()
  expect((await shown()).stdout).toContain(
    'this summary is outdated: no controller manager is leader; on control planes',
  )
  storeLease('2026-11-15T11:30:00.000000Z')
  expect((await shown()).stdout).toContain(
    'this summary is outdated: no controller manager has updated it for 30 min 00 s',
  )
})

test('a node whose agent has never reported is shown as unhealthy', async () => {
  storeHealthyHost()
  storeNode('w9', true)
  const { code, stdout } = await shown(' --limit w9')
  expect(code).toBe(1)
  expect(stdout).toMatch(/^w9 +never +\? +- +ready$/m)
  expect((await shown(' --limit cp1')).code).toBe(0)
  expect((await shown(' --limit w8')).stderr).toContain('LIMIT_UNKNOWN_HOST')
})

test('-o json prints a versioned ReportedStatus document', async () => {
  storeHealthyHost()
  storeSummary()
  storeLease('2026-11-15T11:59:58.000000Z')
  const { stdout } = await shown(' -o json')
  expect(JSON.parse(stdout)).toMatchObject({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ReportedStatus',
    at: '2026-11-15T12:00:00.000Z',
    leaderRenewedAt: '2026-11-15T11:59:58.000000Z',
    summary: { state: 'degraded' },
    hosts: [{ host: 'cp1', heartbeatExpired: false, node: { healthy: true }, status: { agent: '0.1.0' } }],
  })
})

test('an API without Host objects is STATUS_UNAVAILABLE, a missing kubeconfig KUBECONFIG_NOT_READ', async () => {
  respond = (request) =>
    request.path.startsWith('/apis/hyperkube.dev')
      ? { status: 404, json: { kind: 'Status', message: 'the server could not find the requested resource' } }
      : respondStored(request)
  const { code, stderr } = await shown()
  expect(code).toBe(1)
  expect(stderr).toContain('STATUS_UNAVAILABLE')
  expect((await runHyperkube('status --kubeconfig none.yml', files)).stderr).toContain('KUBECONFIG_NOT_READ')
})

const text = readFileSync(join(import.meta.dirname, '../../../examples/high-availability.yml'), 'utf8')
const options = { file: 'cluster.yml', output: 'table', input: false } as const

test('with cluster.yml and its key the API servers of cluster.yml are used', async () => {
  const initialized = await runHyperkube('init', { 'cluster.yml': text })
  const { context } = createInMemoryContext(Object.fromEntries(initialized.files))
  using reporter = await openReportingApi(context, options, undefined)
  expect(reporter?.servers).toEqual([
    'https://k8s.example.com:6443',
    'https://192.168.1.11:6443',
    'https://192.168.1.12:6443',
    'https://192.168.1.13:6443',
  ])
})

test('status --from-api with an invalid cluster.yml is an error', async () => {
  const result = await runHyperkube('status --from-api', { 'cluster.yml': 'kind: Cluster\n' })
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('cluster.yml')
})
