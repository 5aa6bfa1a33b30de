import { expect } from 'vitest'
import { type Credentials, KubeApi } from '../../../lab/cluster/kube-api.ts'
import { ApiReads, type ReadFigures } from '../api-reads.ts'
import type { Endpoint } from '../api-transports.ts'
import { BusyCluster, type BusyFigures } from '../busy-cluster.ts'
import {
  type AdoptedCluster,
  listControlPlanes,
  listWorkers,
  requireFirstHost,
  selectClientHost,
} from './contender.ts'
import type { Workload, WorkloadFigures } from './workload.ts'

/** Requests in one second. */
const rates = { api: 50, service: 100, writes: 5 }
const readsPerSecond = 20

/** What clients of a cluster saw during one change. */
export interface ChangeFigures {
  readonly busy: BusyFigures
  /** Reads of an operator, from any API server. The longest gap is the outage of the API. */
  readonly reads: ReadFigures
  readonly workload: WorkloadFigures
}

export interface ChangeRow extends ChangeFigures {
  readonly change: string
  readonly seconds: number
}

/** Opens the API of the first control plane. */
export function openApi(cluster: Pick<AdoptedCluster, 'hosts'>, credentials: Credentials): KubeApi {
  return new KubeApi(`https://${requireFirstHost(cluster).address}:6443`, credentials)
}

/** Port of hyperkube's proxy on each node. */
const ownProxy: Endpoint = { host: '127.0.0.1', port: 6444 }

/**
 * Endpoints of the API on a node: the proxy of hyperkube, that of the other tool, and the API servers. A node has
 * no proxy while it moves.
 */
export function listEndpoints(cluster: AdoptedCluster): readonly [Endpoint, ...Endpoint[]] {
  const servers = listControlPlanes(cluster).map(({ address }) => ({ host: address, port: 6443 }))
  return [ownProxy, ...cluster.contender.nodeProxies, ...servers]
}

export const loadDescription = `All clients run on the last worker, except the reads. API clients send 50 requests a second to the first of these that accepts their
connection: the proxy of hyperkube on their node, that of the other tool, the API servers in their order. One of eight requests is a write. A failed
request is sent once again, and counts as failed if this fails too. Service clients send 100 requests a second to four pods through their Service,
10 to a NodePort and 10 to an Ingress, without retry. Counted writes create 5 objects a second, and one more that a webhook must admit, with one
retry. An operator reads one object 20 times a second from any API server; the outage is the longest time in which no read succeeded.`

/** A cluster with an application, and clients that use both. */
export class AdoptionLoad {
  readonly #busy: BusyCluster
  readonly #reads: ApiReads
  readonly #workload: Awaited<ReturnType<Workload['open']>>

  private constructor(busy: BusyCluster, reads: ApiReads, workload: Awaited<ReturnType<Workload['open']>>) {
    this.#busy = busy
    this.#reads = reads
    this.#workload = workload
  }

  static async open(
    cluster: AdoptedCluster,
    workload: Workload,
    api: KubeApi,
    credentials: Credentials,
  ): Promise<AdoptionLoad> {
    const endpoints = listEndpoints(cluster)
    const busy = await BusyCluster.open(api, selectClientHost(cluster), credentials, rates, {
      endpoints,
      service: cluster.contender.serviceAddress(99),
      budget: listWorkers(cluster).length > 1,
    })
    const opened = await workload.open(credentials, endpoints)
    const addresses = listControlPlanes(cluster).map(({ address }) => address)
    const load = new AdoptionLoad(busy, new ApiReads(addresses, credentials, readsPerSecond), opened)
    await busy.waitForFirstResponses()
    return load
  }

  async stop(api: KubeApi): Promise<ChangeFigures> {
    const [reads, busy, workload] = await Promise.all([
      this.#reads.stop(),
      this.#busy.stop(api),
      this.#workload.stop(api),
    ])
    return { reads, busy, workload }
  }
}

/** Runs a change under load and returns its row. The load also stops if the change fails. */
export async function measureChange(
  { cluster, workload, api, credentials }: LoadContext,
  change: string,
  run: () => Promise<void>,
): Promise<ChangeRow> {
  const load = await AdoptionLoad.open(cluster, workload, api, credentials)
  const started = performance.now()
  try {
    await run()
  } catch (error) {
    await load.stop(api).catch(() => undefined)
    throw error
  }
  const seconds = (performance.now() - started) / 1000
  const row = { change, seconds, ...(await load.stop(api)) }
  reportRow(row)
  return row
}

export interface LoadContext {
  readonly cluster: AdoptedCluster
  readonly workload: Workload
  readonly api: KubeApi
  /** Credentials of the clients. */
  readonly credentials: Credentials
}

/** Prints a row with the reasons of failed requests, which the page does not have. */
export function reportRow(row: ChangeRow): void {
  const { busy, workload } = row
  const failures = [
    ...busy.api.failed,
    ...busy.service.failed,
    ...workload.nodePort.failed,
    ...workload.ingress.failed,
  ]
  process.stderr.write(`${formatRow(row)}\n`)
  for (const failure of failures.slice(0, 20)) process.stderr.write(`  ${failure}\n`)
}

export const tableHead = `| change | time | API requests | failed | sent again | outage | service requests | failed | NodePort | failed | Ingress | failed | acknowledged writes | refused | lost | StatefulSet paused |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|`

export function formatRow({ change, seconds, busy, reads, workload }: ChangeRow): string {
  const { nodePort, ingress, guarded } = workload
  return `| ${[
    change,
    `${seconds.toFixed(0)} s`,
    ...[busy.api.requests, busy.api.failed.length, busy.api.retried],
    `${(reads.longestGapMs / 1000).toFixed(1)} s`,
    ...[busy.service.requests, busy.service.failed.length],
    ...[nodePort.requests, nodePort.failed.length, ingress.requests, ingress.failed.length],
    busy.writes.acknowledged.length + guarded.acknowledged.length,
    busy.writes.refused + guarded.refused,
    busy.lost.length + workload.lost.length,
    `${workload.storeGapSeconds} s`,
  ].join(' | ')} |`
}

/** Failed requests of all rows, as a share of all requests. */
export function computeFailedShare(rows: readonly ChangeRow[]): {
  readonly api: number
  readonly service: number
} {
  const sum = (read: (row: ChangeRow) => number): number => rows.reduce((total, row) => total + read(row), 0)
  return {
    api: sum(({ busy }) => busy.api.failed.length) / sum(({ busy }) => busy.api.requests),
    service: sum(({ busy }) => busy.service.failed.length) / sum(({ busy }) => busy.service.requests),
  }
}

export function formatShare(share: number): string {
  return `${(share * 100).toFixed(3)} %`
}

/** Share of requests that may fail while a cluster with several control planes changes. */
export const maxFailedShare = 0.001

/** Expects that no acknowledged write is lost and, with several control planes, that few requests failed. */
export function expectUndisturbed(cluster: AdoptedCluster, rows: readonly ChangeRow[]): void {
  for (const { change, busy, workload } of rows) {
    expect(busy.writes.acknowledged.length, change).toBeGreaterThan(0)
    expect([...busy.lost, ...workload.lost], change).toEqual([])
  }
  if (listControlPlanes(cluster).length < 3) return
  const { api, service } = computeFailedShare(rows)
  expect(api, 'share of failed API requests').toBeLessThanOrEqual(maxFailedShare)
  expect(service, 'share of failed service requests').toBeLessThanOrEqual(maxFailedShare)
}
