import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { KubeApi } from '../../../lab/cluster/kube-api.ts'
import { buildClusterDocument } from '../../../lab/hyperkube/cluster-document.ts'
import type { Host } from '../../../lab/hosts/host.ts'
import { ApiLoad, type LoadFigures } from '../api-load.ts'
import { CountedWrites, findLostWrites } from '../counted-writes.ts'
import { parseKubeconfig } from '../kubeconfig.ts'
import { LoadProcess } from '../load-process.ts'
import { waitForRequests } from '../proxied-api.ts'
import type { SimulatedFleet } from './simulated-fleet.ts'

/** A cluster of one real host that is part of a fleet. */
export interface LabCluster {
  readonly name: string
  readonly host: Host
  /** Path of cluster.yml. */
  readonly file: string
}

/** Adds a cluster to a fleet for each host of a lab, with an identity and a lock file. Changes no host. */
export async function addLabClusters(
  fleet: SimulatedFleet,
  hosts: readonly Host[],
  kubernetes: string,
  mirror: string,
): Promise<readonly LabCluster[]> {
  const clusters: LabCluster[] = []
  for (const [index, host] of hosts.entries()) {
    const name = `lab${index + 1}`
    const directory = join(fleet.directory, 'clusters', name)
    const file = join(directory, 'cluster.yml')
    await mkdir(directory, { recursive: true })
    const metadata = { name, fleet: '../../fleet.yml', labels: { kind: 'lab' } }
    await writeFile(file, stringify({ ...buildClusterDocument(kubernetes, mirror, [host]), metadata }))
    await appendFile(join(fleet.directory, '.ssh/known_hosts'), await readFile(host.ssh.knownHosts, 'utf8'))
    for (const command of ['init', 'lock']) {
      const { code, stderr } = await fleet.hyperkube(command, '-f', file)
      if (code !== 0) throw new Error(`${command} of ${name} failed: ${stderr}`)
    }
    clusters.push({ name, host, file })
  }
  return clusters
}

export interface ClusterLoadFigures {
  readonly name: string
  readonly api: LoadFigures
  readonly acknowledged: number
  readonly refused: number
  readonly lost: readonly string[]
}

/** Rates for one cluster. Five clusters and their load share two cores. */
const [requestsPerSecond, writesPerSecond] = [10, 1]

/** API requests and counted writes through the proxy of a cluster's only host. */
export class ClusterLoad {
  readonly #name: string
  readonly #api: KubeApi
  readonly #load: LoadProcess
  readonly #writes: CountedWrites

  private constructor(
    name: string,
    host: Host,
    api: KubeApi,
    credentials: ReturnType<typeof parseKubeconfig>,
  ) {
    this.#name = name
    this.#api = api
    const target = { host: '127.0.0.1', port: 6444, credentials }
    this.#load = new LoadProcess(host, target, requestsPerSecond)
    this.#writes = new CountedWrites(host, target, writesPerSecond)
  }

  static async start(fleet: SimulatedFleet, { name, host, file }: LabCluster): Promise<ClusterLoad> {
    const credentials = parseKubeconfig((await fleet.hyperkube('kubeconfig', '-f', file)).stdout)
    const api = new KubeApi(`https://${host.address}:6443`, credentials)
    await ApiLoad.prepare(api)
    const load = new ClusterLoad(name, host, api, credentials)
    await waitForRequests(load.#load, 10)
    return load
  }

  async stop(): Promise<ClusterLoadFigures> {
    const [api, writes] = await Promise.all([this.#load.stop(), this.#writes.stop()])
    try {
      const lost = await findLostWrites(this.#api, writes)
      const { acknowledged, refused } = writes
      return { name: this.#name, api, acknowledged: acknowledged.length, refused, lost }
    } finally {
      this.#api.close()
    }
  }
}
