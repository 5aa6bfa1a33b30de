import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheDirectory } from '../../lab/cache.ts'
import { selectVersions } from '../../lab/cluster/artifacts.ts'
import type { Credentials } from '../../lab/cluster/kube-api.ts'
import { listHostNames, parseShape } from '../../lab/cluster/shape.ts'
import { rke1Versions, selectParts } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import { openMirror } from '../../lab/mirror/open-mirror.ts'
import { silentReport } from '../../lab/report.ts'
import type { Rke1Network } from '../../lab/rke1/config.ts'
import {
  type Rke1Cluster as LabCluster,
  listRke1Parts,
  startRke1Cluster,
} from '../../lab/rke1/rke1-cluster.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { type AdoptingOperator, createAdoptingOperator } from './adoption/adopting-operator.ts'
import { parseKubeconfig } from './kubeconfig.ts'
import { openFreshLab, startHostsOnDisk } from './lab.ts'

export interface Rke1ClusterOptions {
  /** Name of the lab. */
  readonly name: string
  readonly shape: string
  /** Path of the hyperkube executable. */
  readonly executable: string
  /** Parts that the mirror serves in addition to those of the adopted cluster. */
  readonly parts?: readonly string[]
  /** Whether API servers encrypt Secrets in etcd, with a key of RKE1. */
  readonly encrypted?: boolean
  readonly network?: Rke1Network
  /** True if hosts must survive a power cut. */
  readonly survivesPowerCut?: boolean
}

/** A cluster that RKE1 created, and an operator with hyperkube. */
export interface Rke1Cluster extends AdoptingOperator, Omit<LabCluster, 'directory'>, AsyncDisposable {
  readonly lab: Lab
  /** Address of the mirror. */
  readonly mirror: string
  readonly api: Credentials
  /** Runs `adopt --from-rke`. */
  readonly adopt: (...args: readonly string[]) => Promise<CommandResult>
}

/** Size of the disk of a host. It has the images of RKE1 twice, in Docker and in containerd. */
const diskGigabytes = 16

export async function createRke1Cluster({
  name,
  shape,
  executable,
  parts: moreParts = [],
  encrypted = false,
  network = 'flannel',
  survivesPowerCut = false,
}: Rke1ClusterOptions): Promise<Rke1Cluster> {
  const { etcd, pause, kubernetes } = selectVersions(rke1Versions.kubernetes)
  // Parts that RKE1 and the lock of the adopted cluster need.
  const parts = selectParts([
    ...listRke1Parts(network),
    ...[`kubernetes@${kubernetes}`, `etcd@${etcd}`, `pause@${pause}`, 'containerd', 'runc'],
    ...['cni-plugins', 'flannel', 'kube-router', 'crictl', ...moreParts],
  ])
  const lab = await openFreshLab(name)
  const directory = await mkdtemp(join(tmpdir(), `${name}-`))
  const cache = cacheDirectory()
  const mirror = await openMirror(lab, { parts, cache, report: silentReport, port: 0 })
  const dispose = async (): Promise<void> => {
    await mirror.close()
    await lab.down()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    // rke uses the hosts that already run.
    if (survivesPowerCut)
      await startHostsOnDisk(lab, listHostNames(parseShape(shape)), { docker: true, diskGigabytes })
    const options = { shape, encrypted, network, mirror: mirror.address, cache, report: silentReport }
    const {
      hosts,
      rke,
      directory: rkeDirectory,
    } = await startRke1Cluster(lab, {
      ...options,
      signal: new AbortController().signal,
    })
    const operator = createAdoptingOperator({
      directory,
      executable,
      mirror: mirror.address,
      clusterName: 'lab',
    })
    const { path } = operator
    for (const [from, to] of Object.entries(rkeFiles)) await copyFile(join(rkeDirectory, from), path(to))
    await writeKnownHosts(directory, hosts)
    return {
      ...operator,
      lab,
      mirror: mirror.address,
      hosts,
      rke,
      api: parseKubeconfig(await readFile(path('kube_config_rke.yml'), 'utf8')),
      adopt: async (...args) =>
        operator.hyperkube('adopt', '--from-rke', path('rke.yml'), '-f', path('cluster.yml'), ...args),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Files of RKE1, and their names in the directory of the operator. */
const rkeFiles = {
  'cluster.yml': 'rke.yml',
  'cluster.rkestate': 'rke.rkestate',
  'kube_config_cluster.yml': 'kube_config_rke.yml',
} as const
