import { writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renderTable } from '../../scripts/markdown-table.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { getObject } from '../../src/kube/read-objects.ts'
import { applyObject } from '../../src/kube/write-objects.ts'
import { clusterSetKind, rolloutKind } from '../../src/manager/fleet/resources.ts'
import { memberHeartbeatMs } from '../../src/manager/fleet/watch-specs.ts'
import { type AdminAccess, installPlane, openAdmin } from '../support/fleet-controller/management-plane.ts'
import { PlaneManagerProcess } from '../support/fleet-controller/manager-process.ts'
import { MembersProcess } from '../support/fleet-controller/members-process.ts'
import { type LocalControlPlane, startLocalControlPlane } from '../support/local-control-plane.ts'
import { type ProcessUsage, readProcessUsage } from '../support/process-usage.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/fleet-scale.md')
const [etcdVersion, kubernetes] = ['v3.7.3', 'v1.37.1'] as const
/** Numbers of managed clusters, ascending. Each reports ten nodes. */
const sizes = (process.env['FLEET_SCALE_SIZES'] ?? '200,500,1000,2000').split(',').map(Number)
/** At rest for one heartbeat of each managed cluster. */
const restMs = Number(process.env['FLEET_SCALE_REST_MS'] ?? memberHeartbeatMs)
const group = 'fleet.hyperkube.dev/v1'
const setName = 'simulated'

const stack = new AsyncDisposableStack()
const stop = new AbortController()
let local: LocalControlPlane
let admin: AdminAccess
let members: MembersProcess
let manager: PlaneManagerProcess

interface ScaleRow {
  readonly clusters: number
  readonly joinedPerSecond: number
  readonly published: number
  readonly wave: number
  readonly view: number
  readonly writesPerSecond: number
  readonly reportsPerSecond: number
  readonly databaseBytes: number
  readonly rest: Readonly<Record<'etcd' | 'apiServer' | 'manager', ProcessUsage>>
}
const rows: ScaleRow[] = []

beforeAll(async () => {
  local = stack.use(await startLocalControlPlane(etcdVersion))
  await local.serve(kubernetes, [])
  admin = await openAdmin(local, stop.signal)
  stack.defer(() => stop.abort())
  await installPlane(admin.client)
  await applyObject(admin.client, {
    ...{ apiVersion: group, kind: 'ClusterSet', metadata: { name: setName } },
    spec: { selector: { kind: 'simulated' } },
  })
  manager = new PlaneManagerProcess(admin.kubeconfig)
  stack.defer(async () => manager[Symbol.asyncDispose]())
  const { port, ca, token } = await local.readAccess()
  members = stack.use(await MembersProcess.open({ server: `https://127.0.0.1:${port}`, ca, token }))
}, 600_000)
afterAll(async () => stack.disposeAsync(), 300_000)

async function measure(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

async function waitForSet(healthy: number, degraded = 0): Promise<void> {
  await pollUntil(
    `${healthy} healthy and ${degraded} degraded clusters`,
    async () => {
      const { status } = await getObject(admin.client, clusterSetKind, { name: setName })
      return status?.healthy === healthy && status.degraded === degraded
    },
    { timeoutMs: 600_000, intervalMs: 100 },
  )
}

interface ServerFigures {
  /** Writes since the API server started, and those of Cluster objects. */
  readonly writes: number
  readonly reports: number
  readonly databaseBytes: number
}

/** Reads figures from the metrics of the API server. */
async function readServerFigures(): Promise<ServerFigures> {
  const { body } = await local.send<string>('GET', '/metrics')
  const sum = (pattern: RegExp): number =>
    [...body.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0)
  return {
    writes: sum(/^apiserver_request_total\{.*verb="(?:APPLY|PATCH|POST|PUT)".*\} (\S+)$/gm),
    reports: sum(
      /^apiserver_request_total\{.*resource="clusters".*verb="(?:APPLY|PATCH|POST|PUT)".*\} (\S+)$/gm,
    ),
    databaseBytes: sum(/^apiserver_storage_size_bytes\{.*\} (\S+)$/gm),
  }
}

async function readUsages(): Promise<ScaleRow['rest']> {
  const { etcd, apiServer } = local.pids()
  return {
    etcd: await readProcessUsage(etcd),
    apiServer: await readProcessUsage(apiServer),
    manager: await readProcessUsage(manager.pid),
  }
}

test.each(sizes)('%d managed clusters', { timeout: 1_800_000 }, async (clusters) => {
  const known = rows.at(-1)?.clusters ?? 0
  const joined = await measure(async () => {
    await members.send({ type: 'grow', count: clusters })
    await waitForSet(clusters)
  })
  const generation = clusters
  const published = await measure(async () => members.send({ type: 'publish', generation }))
  const name = `all-${clusters}`
  const wave = await measure(async () => {
    await applyObject(admin.client, {
      ...{ apiVersion: group, kind: 'Rollout', metadata: { name } },
      spec: { clusterSet: setName, waves: ['100%'], parallel: 500, settleSeconds: 0 },
    })
    await pollUntil(
      `rollout ${name}`,
      async () => (await getObject(admin.client, rolloutKind, { name })).status?.state === 'done',
      { timeoutMs: 900_000, intervalMs: 100 },
    )
  })
  await manager[Symbol.asyncDispose]()
  await members.send({ type: 'health', index: 0, state: 'degraded' })
  const view = await measure(async () => {
    manager = new PlaneManagerProcess(admin.kubeconfig)
    await waitForSet(clusters - 1, 1)
  })
  await members.send({ type: 'health', index: 0, state: 'healthy' })
  await waitForSet(clusters)
  const [before, served] = [await readUsages(), await readServerFigures()]
  // The cost at rest is a rate, so it needs a fixed time.
  await sleep(restMs)
  const [after, servedAfter] = [await readUsages(), await readServerFigures()]
  const spend = (part: keyof ScaleRow['rest']): ProcessUsage => ({
    ...after[part],
    cpuSeconds: (after[part].cpuSeconds - before[part].cpuSeconds) / (restMs / 1000),
  })
  rows.push({
    ...{ clusters, published, wave, view },
    joinedPerSecond: (clusters - known) / joined,
    writesPerSecond: (servedAfter.writes - served.writes) / (restMs / 1000),
    reportsPerSecond: (servedAfter.reports - served.reports) / (restMs / 1000),
    databaseBytes: servedAfter.databaseBytes,
    rest: { etcd: spend('etcd'), apiServer: spend('apiServer'), manager: spend('manager') },
  })
  const text = formatEvidence()
  process.stderr.write(text)
  await writeFile(evidence, text)
  expect(view).toBeLessThan(120)
})

function formatEvidence(): string {
  const [first, last] = [rows[0], rows.at(-1)]
  const growth =
    first === undefined || last === undefined || first === last
      ? ''
      : `\nFrom ${first.clusters} to ${last.clusters} clusters (${(last.clusters / first.clusters).toFixed(0)} times), a change of all clusters took ${(last.wave / first.wave).toFixed(1)} times as long, and the API server used ${(last.rest.apiServer.resident / first.rest.apiServer.resident).toFixed(1)} times the memory.\n`
  const cost = ({ resident, cpuSeconds }: ProcessUsage): string =>
    `${Math.round(resident / 2 ** 20)} MiB, ${(cpuSeconds * 100).toFixed(1)} %`
  return `# Many clusters at one management plane

Written by \`npx vitest run --project full test/full/fleet-scale.test.ts\` on ${new Date().toISOString().slice(0, 10)}: kube-apiserver ${kubernetes} and
etcd ${etcdVersion} as processes on a machine with ${availableParallelism()} cores and ${Math.round(totalmem() / 2 ** 30)} GiB, and the controllers fleet-rollout and fleet-status in a process of
their own. The managed clusters are simulated in one more process: each runs the real managed side with its own token and connections, and
reports ten nodes; only its own API is in memory. All processes share the cores, also with other work.

${renderTable(
  [
    'clusters',
    'joined per second',
    'documents of all published (s)',
    'applied by all in one wave (s)',
    'full view after a restart of the controllers (s)',
    'writes per second at rest',
    'of them heartbeats',
    'etcd database',
    'kube-apiserver at rest',
    'etcd at rest',
    'controllers at rest',
  ],
  rows.map(({ clusters, joinedPerSecond, published, wave, view, rest, ...row }) => [
    String(clusters),
    joinedPerSecond.toFixed(1),
    published.toFixed(1),
    wave.toFixed(1),
    view.toFixed(1),
    row.writesPerSecond.toFixed(1),
    row.reportsPerSecond.toFixed(1),
    `${Math.round(row.databaseBytes / 2 ** 20)} MiB`,
    cost(rest.apiServer),
    cost(rest.etcd),
    cost(rest.manager),
  ]),
)}

Cost at rest is resident memory and the share of one core, over ${restMs / 1000} s. A wave has at most 500 clusters at a time. The view is complete
when the ClusterSet counts a cluster whose health changed while no controller ran. Clusters report on change and every five minutes. The documents
of these clusters are small: one ConfigMap each.
${growth}
`
}
