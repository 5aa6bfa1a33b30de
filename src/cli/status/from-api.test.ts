import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { ClusterStatus } from '../../contract/cluster-status.ts'
import type { HostStatus } from '../../contract/host-resource.ts'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import { type Asked, type TestAnswer, testServer } from '../../kit/testing/https-test-server.ts'
import { hyperkube, inMemory, type Ran } from '../testing/run-in-memory.ts'
import { openReporter } from './from-api.ts'

let authority: TestAuthority
let stack: AsyncDisposableStack
/** What the API has, by its path. */
let objects: Map<string, object>
let answer: (asked: Asked) => TestAnswer
let files: Readonly<Record<string, string>>
beforeAll(async () => {
  authority = await testAuthority()
})
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  objects = new Map()
  answer = stored
  const { url } = stack.use(await testServer(authority, (asked) => answer(asked)))
  files = { 'k.yml': kubeconfig(url) }
})
afterEach(async () => stack.disposeAsync())

function stored({ path }: Asked): TestAnswer {
  const one = objects.get(path)
  if (one !== undefined) return { json: one }
  const items = [...objects].flatMap(([key, object]) => (key.startsWith(`${path}/`) ? [object] : []))
  if (path.endsWith('/nodes') || path.endsWith('/hosts'))
    return { json: { metadata: { resourceVersion: '1' }, items } }
  return { status: 404, json: { kind: 'Status', message: 'not found' } }
}

function put(path: string, object: object): void {
  objects.set(path, { metadata: { name: path.split('/').at(-1) }, ...object })
}

function kubeconfig(server: string): string {
  const data = (text: string): string => Buffer.from(text).toString('base64')
  const { certificate, client } = authority
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

const own = { apiVersion: 'hyperkube.dev/v1' }
const since = '2026-11-15T11:40:00.000Z'

function putHost(name: string, status: HostStatus): void {
  put(`/apis/hyperkube.dev/v1/hosts/${name}`, { ...own, kind: 'Host', spec: {}, status })
}

function putNode(name: string, ready: boolean): void {
  const condition = { type: 'Ready', status: ready ? 'True' : 'Unknown', message: 'kubelet stopped posting' }
  const status = { conditions: [condition], nodeInfo: { kubeletVersion: 'v1.37.1' } }
  put(`/api/v1/nodes/${name}`, { apiVersion: 'v1', kind: 'Node', status })
}

const etcd = {
  ...{ id: 'a', leader: 'a', learner: false, ready: true, version: '3.7.3', size: 1, inUse: 1 },
  ...{ members: [], alarms: [] },
}
const wellComponent = { component: 'kubelet', state: 'well', since } as const

function putWell(): void {
  putNode('cp1', true)
  putHost('cp1', { agent: '0.1.0', heartbeat: '2026-11-15T11:59:48.000Z', components: [wellComponent], etcd })
}

function putSummary(more: Partial<ClusterStatus> = {}): void {
  const status: ClusterStatus = {
    ...{ state: 'degraded', since, findings: [] },
    nodes: { all: 2, ready: 1, unschedulable: 0, kubelets: [] },
    hosts: { all: 2, heard: 1, agents: [] },
    etcd: { members: 1, ready: 1 },
    certificates: { firstEnds: '2027-09-01', host: 'cp1' },
    snapshot: { name: 'etcd-2026-11-15T06-00-00Z.db', host: 'cp1' },
    ...more,
  }
  put('/apis/hyperkube.dev/v1/clusterstatuses/cluster', { ...own, kind: 'ClusterStatus', status })
}

function putLease(renewTime: string): void {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/hyperkube-controller-manager'
  const spec = { holderIdentity: 'cp1', renewTime }
  put(path, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec })
}

async function shown(more = ''): Promise<Ran> {
  return hyperkube(`status --kubeconfig k.yml${more}`, files)
}

test('by a kubeconfig alone: what the cluster says of itself, what is wrong, and how old it is', async () => {
  putWell()
  putNode('w1', false)
  putHost('w1', {
    ...{ agent: '0.1.0', heartbeat: '2026-11-15T11:39:00.000Z', idle: 'ana is at work' },
    components: [wellComponent, { component: 'flanneld', state: 'given-up', since, because: 'no answer' }],
    failing: [{ component: 'kubelet', probe: 'disk-space', since, seen: '3 % free', code: 'DISK_FULL' }],
  })
  putSummary()
  putLease('2026-11-15T11:59:58.000000Z')
  const { code, stdout } = await shown()
  expect(code).toBe(1)
  expect(stdout).toMatchInlineSnapshot(`
    "what the cluster says of itself; nobody has looked at its hosts
    degraded since 2026-11-15T11:40:00Z: 1 of 2 nodes ready, 1 of 2 agents heard, 1 of 1 members of etcd well

    HOST  HEARD            COMPONENTS  ETCD   NODE
    cp1   12.0 s ago       1/1         leads  ready
    w1    21 min 00 s ago  1/2         -      not ready

    w1: nothing is heard of its agent since 2026-11-15T11:39:00Z; hyperkube doctor looks at it by ssh
    w1: flanneld: given up: no answer
    w1: kubelet: disk-space: 3 % free
    w1: node: kubelet stopped posting
    w1: ana is at work
    certificates: the first to expire is on cp1, on 2027-09-01
    snapshots: the newest is etcd-2026-11-15T06-00-00Z.db on cp1
    "
  `)
})

test('all is well, also in wide', async () => {
  putWell()
  putSummary({ state: 'well' })
  putLease('2026-11-15T11:59:58.000000Z')
  const { code, stdout } = await shown(' -o wide')
  expect(code).toBe(0)
  expect(stdout).toContain('v1.37.1  0.1.0')
})

test('that nobody keeps the summary any more is said, and that there is none', async () => {
  putWell()
  expect((await shown()).stdout).toContain('no controller manager has said')
  putSummary()
  expect((await shown()).stdout).toContain('nobody keeps this up to date; on control planes')
  putLease('2026-11-15T11:30:00.000000Z')
  expect((await shown()).stdout).toContain('nobody has kept this up to date for 30 min 00 s')
})

test('a node whose agent has never spoken is shown, and is not well', async () => {
  putWell()
  putNode('w9', true)
  const { code, stdout } = await shown(' --limit w9')
  expect(code).toBe(1)
  expect(stdout).toMatch(/^w9 +never +\? +- +ready$/m)
  expect((await shown(' --limit cp1')).code).toBe(0)
  expect((await shown(' --limit w8')).stderr).toContain('LIMIT_UNKNOWN_HOST')
})

test('for programs it is a document with a version', async () => {
  putWell()
  putSummary()
  putLease('2026-11-15T11:59:58.000000Z')
  const { stdout } = await shown(' -o json')
  expect(JSON.parse(stdout)).toMatchObject({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ReportedStatus',
    at: '2026-11-15T12:00:00.000Z',
    kept: '2026-11-15T11:59:58.000000Z',
    summary: { state: 'degraded' },
    hosts: [{ host: 'cp1', silent: false, node: { well: true }, status: { agent: '0.1.0' } }],
  })
})

test('a cluster that has no such objects is told from one that does not answer', async () => {
  answer = (asked) =>
    asked.path.startsWith('/apis/hyperkube.dev')
      ? { status: 404, json: { kind: 'Status', message: 'the server could not find the requested resource' } }
      : stored(asked)
  const { code, stderr } = await shown()
  expect(code).toBe(1)
  expect(stderr).toContain('STATUS_NOT_TOLD')
  expect((await hyperkube('status --kubeconfig none.yml', files)).stderr).toContain('KUBECONFIG_NOT_READ')
})

const text = readFileSync(join(import.meta.dirname, '../../../examples/high-availability.yml'), 'utf8')
const options = { file: 'cluster.yml', output: 'table', input: false } as const

test('cluster.yml and its key lead straight to the API servers', async () => {
  const made = await hyperkube('init', { 'cluster.yml': text })
  const { context } = inMemory(Object.fromEntries(made.files))
  using reporter = await openReporter(context, options, undefined)
  expect(reporter?.servers).toEqual([
    'https://k8s.example.com:6443',
    'https://192.168.1.11:6443',
    'https://192.168.1.12:6443',
    'https://192.168.1.13:6443',
  ])
})

test('a cluster.yml that makes no sense leads nowhere, and says why', async () => {
  const ran = await hyperkube('status --from-api', { 'cluster.yml': 'kind: Cluster\n' })
  expect(ran.code).toBe(1)
  expect(ran.stderr).toContain('cluster.yml')
})
