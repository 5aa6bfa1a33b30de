import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { renderTable } from '../../scripts/markdown-table.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import {
  addLabClusters,
  ClusterLoad,
  type ClusterLoadFigures,
  type LabCluster,
} from '../support/fleet/lab-clusters.ts'
import { createSimulatedFleet, type SimulatedFleet } from '../support/fleet/simulated-fleet.ts'
import { openFreshLab } from '../support/lab.ts'
import { openLabMirror } from '../support/lab-mirror.ts'
import type { MeteredRun } from '../support/operator-scale/metered-process.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/fleet-hosts.md')
const [from, to] = ['1.36.4', '1.37.1'] as const
/** Number of simulated clusters beside the five clusters of the lab. */
const simulated = Number(process.env['FLEET_CLUSTERS'] ?? 195)
const size = simulated + 5
/** Selects the clusters with real hosts. */
const onlyLab = ['--select', 'kind=lab']

const savedRun = z.looseObject({
  state: z.string(),
  waves: z.array(z.looseObject({ clusters: z.array(z.string()) })),
  clusters: z.record(z.string(), z.looseObject({ state: z.string(), endedAt: z.string().optional() })),
})
type SavedRun = z.infer<typeof savedRun>

const stack = new AsyncDisposableStack()
let fleet: SimulatedFleet
let clusters: readonly LabCluster[] = []
const rows: { readonly what: string; readonly run: MeteredRun }[] = []

beforeAll(async () => {
  fleet = stack.use(await createSimulatedFleet([inject('executable')], simulated))
  const lab = await openFreshLab('fleet')
  stack.defer(async () => lab.down())
  const mirror = await openLabMirror(lab)
  stack.defer(async () => mirror.close())
  const hosts = await lab.up(['cp1', 'cp2', 'cp3', 'cp4', 'cp5'])
  clusters = await addLabClusters(fleet, hosts, from, mirror.address)
}, 900_000)
afterAll(async () => stack.disposeAsync(), 300_000)

async function run(what: string, code: number, ...args: readonly string[]): Promise<MeteredRun> {
  const result = await fleet.hyperkube('fleet', ...args)
  process.stderr.write(
    `${what}: ${result.seconds.toFixed(1)} s, ${result.cpuSeconds.toFixed(1)} s of processor time\n`,
  )
  expect(result.code, `${result.stderr.slice(-4000)}${result.stdout.slice(-2000)}`).toBe(code)
  rows.push({ what, run: result })
  return result
}

async function readRun(command: string): Promise<SavedRun> {
  const file = join(fleet.directory, `hyperkube/fleets/simulated/${command}.json`)
  return savedRun.parse(JSON.parse(await readFile(file, 'utf8')))
}

function listClusters({ clusters: states }: SavedRun, ...wanted: readonly string[]): string[] {
  return Object.entries(states).flatMap(([name, { state }]) => (wanted.includes(state) ? [name] : []))
}

/** Sets a value that all clusters inherit. */
async function setInheritedMaxPods(maxPods: number): Promise<void> {
  const document = parseDocument(await readFile(fleet.file, 'utf8'))
  document.setIn(['spec', 'defaults', 0, 'values', 'components', 'kubelet', 'maxPods'], maxPods)
  await writeFile(fleet.file, document.toString())
}

test('fleet up creates five clusters in waves', { timeout: 1_800_000 }, async () => {
  await run('`fleet up` creates five clusters', 0, 'up', '--yes', ...onlyLab)
  const saved = await readRun('up')
  expect(listClusters(saved, 'done').toSorted()).toEqual(clusters.map(({ name }) => name))
})

test(`fleet status shows ${size} clusters, five of them with real hosts`, { timeout: 600_000 }, async () => {
  const result = await run(`\`fleet status\` of ${size} clusters`, 0, 'status', '-o', 'json')
  expect(JSON.parse(result.stdout)).toMatchObject({ summary: { healthy: size } })
})

test(
  'an unreachable host in wave 2 stops a change, which is resumed later',
  { timeout: 3_600_000 },
  async () => {
    await setInheritedMaxPods(90)
    const second = (await readRun('up')).waves[1]?.clusters[0] ?? ''
    const broken = clusters.find(({ name }) => name === second)
    if (broken === undefined) throw new Error(`${second} is not a cluster of the lab`)
    await broken.host.script('systemctl stop ssh')
    await run('`fleet up` with an unreachable host in wave 2', 1, 'up', '--yes', '--restart', ...onlyLab)
    const stopped = await readRun('up')
    expect(stopped.state).toBe('stopped')
    expect(listClusters(stopped, 'failed')).toEqual([second])
    const later = stopped.waves.slice(2).flatMap((wave) => wave.clusters)
    expect(later.length).toBeGreaterThan(0)
    expect(listClusters(stopped, 'pending')).toEqual(expect.arrayContaining(later))
    await broken.host.script('systemctl start ssh')

    // Killed in the middle: the change of one more cluster has ended.
    const before = listClusters(stopped, 'done', 'changed').length
    const child = spawn(
      inject('executable'),
      ['fleet', 'up', '--yes', '--resume', ...onlyLab, '-f', fleet.file],
      { env: { ...process.env, ...fleet.env }, stdio: 'ignore' },
    )
    const exited = once(child, 'exit')
    await pollUntil(
      'one more cluster',
      async () => listClusters(await readRun('up'), 'done', 'changed').length > before,
      { timeoutMs: 600_000, intervalMs: 50 },
    )
    child.kill('SIGKILL')
    await exited
    const killed = await readRun('up')
    expect(killed.state).toBe('running')
    const changed = listClusters(killed, 'done', 'changed')
    await run('`fleet up --resume` after SIGKILL', 0, 'up', '--yes', '--resume', ...onlyLab)
    const ended = await readRun('up')
    expect(listClusters(ended, 'done')).toHaveLength(5)
    for (const name of changed)
      expect(ended.clusters[name]?.endedAt, name).toBe(killed.clusters[name]?.endedAt)
  },
)

test('fleet backup and fleet certs work on all five', { timeout: 1_800_000 }, async () => {
  await run('`fleet backup`', 0, 'backup', '--yes', '--waves', '100%', ...onlyLab)
  await run('`fleet certs`', 0, 'certs', '--yes', ...onlyLab)
  for (const command of ['backup', 'certs'])
    expect(listClusters(await readRun(command), 'done'), command).toHaveLength(5)
})

test('fleet upgrade upgrades five clusters in waves under load', { timeout: 3_600_000 }, async () => {
  const loads = await settleAll(clusters.map(async (cluster) => ClusterLoad.start(fleet, cluster)))
  let figures: readonly ClusterLoadFigures[] = []
  try {
    await run(`\`fleet upgrade --to ${to}\``, 0, 'upgrade', '--to', to, '--yes', ...onlyLab)
  } finally {
    figures = await settleAll(loads.map(async (load) => load.stop()))
  }
  const result = await run(`\`fleet status\` of ${size} clusters`, 0, 'status', '-o', 'json')
  expect(JSON.parse(result.stdout)).toMatchObject({ summary: { healthy: size } })
  const text = formatEvidence(figures)
  process.stderr.write(text)
  await writeFile(evidence, text)
  expect(figures.flatMap(({ lost }) => lost)).toEqual([])
})

function formatEvidence(figures: readonly ClusterLoadFigures[]): string {
  const seconds = (value: number): string => `${value.toFixed(1)} s`
  return `# A fleet with five clusters of real hosts

Written by \`npx vitest run --project full test/full/fleet-hosts.test.ts\` on ${new Date().toISOString().slice(0, 10)}: five clusters of one
lab host each (control plane and worker), and ${simulated} simulated clusters (\`test/support/fleet/simulated-fleet.ts\`), in one
fleet. The lab, the simulator, the load and hyperkube share two cores.

${renderTable(
  ['command', 'time', 'processor time of hyperkube', 'peak memory'],
  rows.map(({ what, run: { seconds: wall, cpuSeconds, peakBytes } }) => [
    what,
    seconds(wall),
    seconds(cpuSeconds),
    `${Math.round(peakBytes / 2 ** 20)} MiB`,
  ]),
)}

The waves of the five clusters are those of fleet.yml: 1, 10%, 50% and 100%. The host of the first cluster of wave 2 did not accept ssh
connections, so the change stopped there. It was resumed after the fix, killed with SIGKILL when one more cluster was changed, and resumed
again. Clusters that were changed before the kill were not changed again.

## Upgrade ${from} to ${to} under load

Each cluster got 10 API requests a second and one counted write a second, through the proxy of its host. A client sends a failed
request once more. Each cluster has one API server and one etcd member, and both are restarted.

${renderTable(
  ['cluster', 'API requests', 'failed', 'sent again', 'slowest', 'writes acknowledged', 'refused', 'lost'],
  figures.map(({ name, api, acknowledged, refused, lost }) => [
    name,
    String(api.requests),
    String(api.failed.length),
    String(api.retried),
    `${api.worst} ms`,
    String(acknowledged),
    String(refused),
    String(lost.length),
  ]),
)}

${formatFailures(figures)}
`
}

/** Lists the errors of failed requests, with the number of requests for each. */
function formatFailures(figures: readonly ClusterLoadFigures[]): string {
  const errors = Object.entries(
    Object.groupBy(
      figures.flatMap(({ api }) => api.failed),
      (error) => error,
    ),
  )
  if (errors.length === 0) return 'No request failed.'
  return `Errors of failed requests:\n\n${errors
    .map(([error, requests]) => `- ${requests?.length ?? 0}: \`${error}\``)
    .join('\n')}`
}
