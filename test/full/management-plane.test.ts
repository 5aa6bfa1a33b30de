import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parseDocument } from 'yaml'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { renderTable } from '../../scripts/markdown-table.ts'
import type { ManagedClusterSpec, ManagedClusterStatus } from '../../src/fleet/cluster-resource.ts'
import type { RolloutStatus } from '../../src/fleet/rollout-resource.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { addLabClusters, type LabCluster } from '../support/fleet/lab-clusters.ts'
import { createSimulatedFleet, type SimulatedFleet } from '../support/fleet/simulated-fleet.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { openFreshLab } from '../support/lab.ts'
import { openLabMirror } from '../support/lab-mirror.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/management-plane.md')
const kubernetes = '1.37.1'
/** How long the host of the management plane stays off. */
const lossMs = Number(process.env['PLANE_LOSS_MS'] ?? 600_000)
const group = '/apis/fleet.hyperkube.dev/v1'
const timeout = 1_800_000

const stack = new AsyncDisposableStack()
let fleet: SimulatedFleet
let lab: Lab
let plane: LabCluster
let members: readonly LabCluster[]
const apis = new Map<string, KubeApi>()
const seconds: Record<string, number> = {}

interface ManagedCluster {
  readonly spec: ManagedClusterSpec
  readonly status: ManagedClusterStatus
}

interface Stored {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string }
  readonly data: Readonly<Record<string, string>>
}

beforeAll(async () => {
  // The simulated cluster of this fleet is never selected.
  fleet = stack.use(await createSimulatedFleet([inject('executable')], 1))
  lab = await openFreshLab('plane')
  stack.defer(async () => lab.down())
  const mirror = await openLabMirror(lab)
  stack.defer(async () => mirror.close())
  const hosts = await lab.up(['cp1', 'cp2', 'cp3'])
  const [first, ...others] = await addLabClusters(fleet, hosts, kubernetes, mirror.address)
  if (first === undefined) throw new Error('there is no host for the management plane')
  ;[plane, members] = [first, others]
  await edit(plane, ['metadata', 'labels', 'kind'], 'plane')
  await edit(plane, ['spec', 'manager', 'controllers'], ['*', 'fleet-rollout', 'fleet-status'])
  for (const member of members) await edit(member, ['spec', 'manager', 'controllers'], ['*', 'fleet-member'])
  await setWord('first')
  await run(0, 'fleet', 'up', '--yes', '--waves', '100%', '--select', 'region!=eu')
  for (const cluster of [plane, ...members]) {
    const { stdout } = await run(0, 'kubeconfig', '-f', cluster.file)
    const api = new KubeApi(`https://${cluster.host.address}:6443`, parseKubeconfig(stdout))
    stack.defer(() => api.close())
    apis.set(cluster.name, api)
    if (cluster === plane) await writeFile(planeKubeconfig(), stdout, { mode: 0o600 })
  }
}, 1_200_000)
afterAll(async () => stack.disposeAsync(), 300_000)

const planeKubeconfig = (): string => join(fleet.directory, 'plane.kubeconfig')

async function edit(cluster: LabCluster, path: readonly string[], value: unknown): Promise<void> {
  const document = parseDocument(await readFile(cluster.file, 'utf8'))
  document.setIn(path, value)
  await writeFile(cluster.file, document.toString())
}

/** Changes the addon of the managed clusters: a ConfigMap with one word. */
async function setWord(word: string): Promise<void> {
  const metadata = { name: 'hello', namespace: 'default' }
  const inline = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { word } }]
  for (const member of members) await edit(member, ['spec', 'addons'], [{ name: 'hello', inline }])
}

async function run(code: number, ...args: readonly string[]): Promise<{ readonly stdout: string }> {
  const result = await fleet.hyperkube(...args)
  expect(result.code, `${args.join(' ')}: ${result.stderr.slice(-4000)}${result.stdout.slice(-2000)}`).toBe(
    code,
  )
  return result
}

function apiOf({ name }: LabCluster): KubeApi {
  const api = apis.get(name)
  if (api === undefined) throw new Error(`${name} has no API yet`)
  return api
}

async function readWord(member: LabCluster): Promise<string | undefined> {
  const { data } = await apiOf(member).get<Stored>('/api/v1/namespaces/default/configmaps/hello')
  return data['word']
}

const readWords = async (): Promise<(string | undefined)[]> => Promise.all(members.map(readWord))

/** The objects in a managed cluster that a document changes. Their versions change with each write. */
async function readManaged(): Promise<Stored[]> {
  const paths = ['default/configmaps/hello', 'kube-system/configmaps/hyperkube-fleet-member']
  return Promise.all(
    members.flatMap((member) =>
      paths.map(async (path) => apiOf(member).get<Stored>(`/api/v1/namespaces/${path}`)),
    ),
  )
}

const readCluster = async ({ name }: LabCluster): Promise<ManagedCluster> =>
  apiOf(plane).get<ManagedCluster>(`${group}/clusters/${name}`)

async function publishWord(word: string): Promise<void> {
  await setWord(word)
  await run(0, 'fleet', 'publish', '--yes', '--management', planeKubeconfig(), '--select', 'kind=lab')
}

/** Creates a Rollout for all managed clusters and waits until it ends. */
async function rollOut(name: string, spec: object = {}): Promise<RolloutStatus> {
  await apiOf(plane).create(`${group}/rollouts`, {
    ...{ apiVersion: 'fleet.hyperkube.dev/v1', kind: 'Rollout', metadata: { name } },
    spec: { clusterSet: 'lab', waves: [1, '100%'], settleSeconds: 10, ...spec },
  })
  return pollUntil(
    `rollout ${name}`,
    async () => {
      const { status } = await apiOf(plane).get<{ readonly status?: RolloutStatus }>(
        `${group}/rollouts/${name}`,
      )
      return (status?.state === 'done' || status?.state === 'stopped') && status
    },
    { timeoutMs: 600_000, intervalMs: 500 },
  )
}

async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now()
  await work()
  seconds[what] = (performance.now() - began) / 1000
  process.stderr.write(`${what}: ${seconds[what].toFixed(1)} s\n`)
}

test('managed clusters join, report, and apply a document that a rollout permits', { timeout }, async () => {
  const joinFleet = ['fleet', 'join', '--management', planeKubeconfig(), '--select', 'kind=lab'] as const
  await run(3, ...joinFleet, '--dry-run')
  await run(0, ...joinFleet, '--yes')
  await apiOf(plane).create(`${group}/clustersets`, {
    ...{ apiVersion: 'fleet.hyperkube.dev/v1', kind: 'ClusterSet', metadata: { name: 'lab' } },
    spec: { selector: { kind: 'lab' } },
  })
  await pollUntil(
    'the reports of all clusters',
    async () => {
      const clusters = await Promise.all(members.map(readCluster))
      return clusters.every(({ status }) => status?.cluster?.state === 'healthy')
    },
    { timeoutMs: 600_000, intervalMs: 500 },
  )
  await publishWord('second')
  expect(await readWords()).toEqual(members.map(() => 'first'))
  await measure('a change of all clusters', async () => {
    expect(await rollOut('second')).toMatchObject({ state: 'done' })
  })
  expect(await readWords()).toEqual(members.map(() => 'second'))
})

test(
  'a lost management plane, restored from an older snapshot, changes no cluster',
  { timeout },
  async () => {
    await run(0, 'etcd', 'snapshot', 'save', 'older', '-f', plane.file)
    const older = await Promise.all(members.map(readCluster))
    await publishWord('third')
    expect(await rollOut('third')).toMatchObject({ state: 'done' })
    const before = await readManaged()
    expect(await readWords()).toEqual(members.map(() => 'third'))

    await plane.host.crash()
    const [first] = members
    if (first === undefined) throw new Error('there is no managed cluster')
    // A managed cluster heals itself meanwhile.
    await first.host.script('systemctl stop kubelet')
    await measure('a stopped kubelet runs again, without the management plane', async () =>
      pollUntil(
        'the kubelet',
        async () =>
          (await first.host.script('systemctl is-active kubelet || true')).stdout.trim() === 'active',
        { timeoutMs: 120_000, intervalMs: 500 },
      ),
    )
    // The loss has a fixed time.
    await sleep(lossMs)
    expect(await readManaged()).toEqual(before)

    await measure('start of the host, and restore of the snapshot', async () => {
      await lab.start(plane.host.name)
      await run(0, 'etcd', 'snapshot', 'restore', 'older', '--yes', '-f', plane.file)
    })
    await measure('all clusters have reported what they accepted', async () =>
      pollUntil(
        'the reports of all clusters',
        async () => {
          const clusters = await Promise.all(members.map(readCluster))
          return clusters.every(
            ({ spec, status }, index) =>
              spec.desired?.generation === older[index]?.spec.desired?.generation &&
              (status.accepted?.generation ?? 0) > (spec.desired?.generation ?? 0),
          )
        },
        { timeoutMs: 900_000, intervalMs: 500 },
      ),
    )
    const again = await rollOut('again', { maxFailed: members.length })
    process.stderr.write(`rollout of the older documents: ${JSON.stringify(again)}\n`)
    for (const member of members)
      expect((await readCluster(member)).status).toMatchObject({ failed: { code: 'FLEET_DOCUMENT_STALE' } })
    expect(await readWords()).toEqual(members.map(() => 'third'))

    await publishWord('fourth')
    await measure('a change of all clusters after the restore', async () => {
      expect(await rollOut('fourth')).toMatchObject({ state: 'done' })
    })
    expect(await readWords()).toEqual(members.map(() => 'fourth'))
    await writeFile(evidence, formatEvidence())
  },
)

function formatEvidence(): string {
  const rows = Object.entries(seconds).map(([what, value]) => [what, value.toFixed(1)])
  return `# A management plane on real hosts, lost and restored

Written by \`npx vitest run --project full test/full/management-plane.test.ts\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes ${kubernetes}, a
management plane and ${members.length} managed clusters of one lab host each. \`fleet join\` connected them, and \`fleet publish\` signed their addons.

The host of the management plane crashed and stayed off for ${(lossMs / 60_000).toFixed(1)} minutes. Then \`etcd snapshot restore\` restored a snapshot that was
older than the newest documents.

${renderTable(['what', 'seconds'], rows)}

- While the management plane was off, no object that a document changes was written in any managed cluster. The agent started a stopped kubelet.
- After the restore, all clusters reported what they had accepted before. The restored API offered older documents. A Rollout permitted these,
  and every cluster refused them with \`FLEET_DOCUMENT_STALE\`: its ConfigMap kept the newest value.
- \`fleet publish\` signed newer documents, and a new Rollout applied them to all clusters.

[Rollouts with approvals, failures and replayed documents](../how-to/management-plane.md) are tested with simulated clusters
(\`test/full/fleet-controller.test.ts\`).
`
}
