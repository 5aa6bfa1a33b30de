import { describe, expect, test } from 'vitest'
import type { Credentials } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { BusyCluster, type BusyFigures, formatBusyFigures } from '../support/busy-cluster.ts'
import { recordDryRun } from '../support/dry-run.ts'
import {
  createEveryKind,
  expectEqualObjects,
  expectKeptObjects,
  listRunningPrograms,
  listServedVersions,
  readSettledObjects,
} from '../support/held-upgrade.ts'
import { type EvidenceRow, writeEvidenceSection } from '../support/held-upgrade-evidence.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const shape = process.env['HELD_UPGRADE_SHAPE'] ?? '3+2'
const [from, to] = ['1.36.4', '1.37.1'] as const
const testOptions = { timeout: 1_800_000 }

const nodePrograms = [`kube-proxy-${from}`, `kubelet-${from}`]
const controlPlane = (version: string) =>
  ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) => `${name}-${version}`)
const oldPrograms = ['etcd-3.6.16', ...controlPlane(from), ...nodePrograms].toSorted()
const heldPrograms = ['etcd-3.6.16', ...controlPlane(to), ...nodePrograms].toSorted()
const newPrograms = ['etcd-3.7.3', ...controlPlane(to), `kube-proxy-${to}`, `kubelet-${to}`].toSorted()

interface Round {
  readonly cluster: UpCluster
  readonly servers: readonly Host[]
  readonly credentials: Credentials
}

interface Result {
  readonly holdSeconds: number
  readonly endSeconds: number
  readonly objects: number
  readonly figures: BusyFigures
}

/**
 * Runs a command and expects that it does exactly what its dry run planned. Returns the duration in seconds.
 */
async function change({ cluster }: Round, ...args: readonly string[]): Promise<number> {
  const dryRun = await recordDryRun(cluster.operator, cluster.hosts, args)
  const began = performance.now()
  await cluster.operator.must(0, ...args, '--yes')
  await dryRun.expectDone()
  return (performance.now() - began) / 1000
}

/**
 * Starts a held upgrade, creates an object of every kind, and confirms the upgrade or rolls it back, all
 * under load.
 */
async function holdUnderLoad(round: Round, end: 'confirm' | 'rollback'): Promise<Result> {
  const { cluster, servers, credentials } = round
  const { operator, api, hosts } = cluster
  const clientHost = hosts.at(-1)
  if (clientHost === undefined) throw new Error('there is no host')
  const busy = await BusyCluster.open(api, clientHost, credentials)
  await busy.waitForFirstResponses()
  const holdSeconds = await change(round, 'upgrade', '--to', to, '--hold')
  expect(await listRunningPrograms(hosts)).toEqual(heldPrograms)
  expect(await listServedVersions(servers, credentials)).toEqual([`v${to} as 1.36`])
  await expectHoldIsShown(round)
  await createEveryKind(api)
  const objects = await readSettledObjects(api)
  const endSeconds = await change(round, 'upgrade', end)
  const expectObjects = end === 'rollback' ? expectEqualObjects : expectKeptObjects
  const count = await expectObjects(api, objects)
  const figures = await busy.stop(api)
  process.stderr.write(
    `${end}: held in ${holdSeconds.toFixed(0)} s, ended in ${endSeconds.toFixed(0)} s, ${count} objects kept; ${formatBusyFigures(figures)}\n`,
  )
  expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
  expect((await operator.must(0, 'status')).stdout).not.toContain('held')
  return { holdSeconds, endSeconds, objects: count, figures }
}

/**
 * Expects that `status` and `plan` show the hold, that `plan` has no changes, and that no other upgrade can
 * start.
 */
async function expectHoldIsShown({ cluster: { operator } }: Round): Promise<void> {
  for (const command of ['status', 'plan']) {
    const { stdout } = await operator.must(0, command)
    expect(stdout).toContain(`upgrade to ${to} is held since`)
    expect(stdout).toContain('hyperkube upgrade confirm')
    expect(stdout).toContain('hyperkube upgrade rollback')
  }
  expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
  const { stderr } = await operator.must(1, 'upgrade', '--to', to, '--yes')
  expect(stderr).toContain('UPGRADE_HELD')
}

function expectNothingFailed({ api, service, writes, lost }: BusyFigures): void {
  expect(api.failed).toEqual([])
  expect(service.failed).toEqual([])
  expect(writes.refused).toBe(0)
  expect(lost).toEqual([])
}

function setUpRound(name: string): () => Promise<Round> {
  const clusterNow = setUpCluster(name, shape, from)
  return async () => {
    const cluster = clusterNow()
    const credentials = parseKubeconfig((await cluster.operator.must(0, 'kubeconfig')).stdout)
    return { cluster, credentials, servers: cluster.hosts.filter(({ name: host }) => host.startsWith('cp')) }
  }
}

describe(`rolled back, ${shape}`, () => {
  const openRound = setUpRound('hold-back')

  test('no request fails, and every object is equal on the old version', testOptions, async () => {
    const round = await openRound()
    const result = await holdUnderLoad(round, 'rollback')
    expectNothingFailed(result.figures)
    expect(await listRunningPrograms(round.cluster.hosts)).toEqual(oldPrograms)
    expect(await listServedVersions(round.servers, round.credentials)).toEqual([`v${from} as 1.36`])
    await writeEvidenceSection('Rolled back', load, listRows(result))
  })
})

describe(`confirmed, ${shape}`, () => {
  const openRound = setUpRound('hold-confirm')

  test('no request fails, and only then is the new minor served', testOptions, async () => {
    const round = await openRound()
    const result = await holdUnderLoad(round, 'confirm')
    expectNothingFailed(result.figures)
    expect(await listRunningPrograms(round.cluster.hosts)).toEqual(newPrograms)
    expect(await listServedVersions(round.servers, round.credentials)).toEqual([`v${to} as 1.37`])
    await writeEvidenceSection('Confirmed', load, listRows(result))
  })
})

const load =
  'On hosts of the lab, which share one machine with their clients. The load lasts from before the hold until after its end: 50 API requests a second and five counted writes a second through the proxy of the last host, and 100 requests a second to a service of four pods. A client sends an API request once more before it counts as failed. During the hold the suite creates an object of every built-in kind except Node, and a custom resource. After a rollback every object must be equal, apart from its status and bookkeeping metadata. After a confirmation it must have all that it had, and may have defaults of new fields.'

function listRows({ holdSeconds, endSeconds, objects, figures }: Result): EvidenceRow[] {
  const { api, service, writes, lost } = figures
  return [
    ['hosts', shape],
    ['time of the hold', `${holdSeconds.toFixed(0)} s`],
    ['time of its end', `${endSeconds.toFixed(0)} s`],
    ['objects compared', objects],
    ['API requests', api.requests],
    ['– failed', api.failed.length],
    ['– sent again by their clients', api.retried],
    ['– slowest that was not throttled', `${api.worst} ms`],
    ['requests to the service', service.requests],
    ['– failed', service.failed.length],
    ['– slowest', `${service.worst} ms`],
    ['writes acknowledged', writes.acknowledged.length],
    ['– acknowledged and lost', lost.length],
  ]
}
