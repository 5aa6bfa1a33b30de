import { runBench } from '../../lab/bench/run-bench.ts'
import { removeProbeWorkload } from '../../lab/bench/workload.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { readDigests, selectVersions } from '../../lab/cluster/artifacts.ts'
import type { Access } from '../../lab/cluster/contender.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { assignRoles, type ClusterHosts, parseShape } from '../../lab/cluster/shape.ts'
import { machineArch } from '../../lab/components/build.ts'
import { type KubernetesVersion, selectParts } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { kubeadm } from '../../lab/kubeadm/kubeadm.ts'
import { switchToLocalProxy } from '../../lab/kubeadm/local-proxy.ts'
import { prepareUpgrade, upgradeWithKubeadm } from '../../lab/kubeadm/upgrade.ts'
import { openMirror } from '../../lab/mirror/open-mirror.ts'
import { silentReport } from '../../lab/report.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { BusyCluster, type BusyFigures, formatBusyFigures } from './busy-cluster.ts'
import { issueClientCertificate } from './client-certificate.ts'
import { parseKubeconfig } from './kubeconfig.ts'
import { installProgram } from './program.ts'
import { ProxiedApi } from './proxied-api.ts'
import { createUpCluster } from './up-cluster.ts'

/** Result of an upgrade of a cluster in use. */
export interface UpgradeResult {
  readonly seconds: number
  readonly figures: BusyFigures
  /**
   * Number of containers that restarted in their pod. A drain causes no such restarts, because it replaces
   * pods.
   */
  readonly restarted: number
  /** All kubelet, API server and etcd versions after the upgrade. */
  readonly versions: readonly string[]
}

export interface UpgradeOptions {
  readonly lab: Lab
  readonly shape: string
  readonly from: KubernetesVersion
  readonly to: KubernetesVersion
  readonly signal: AbortSignal
  /** Parts that the mirror serves in addition to the default ones. */
  readonly parts?: readonly string[]
  /** Called when the upgrade begins. The returned function is called at its end. */
  readonly observe?: (api: KubeApi, hosts: ClusterHosts) => () => Promise<void>
}

/** Creates a cluster with `hyperkube up` and upgrades it with `hyperkube upgrade`. */
export async function runHyperkubeUpgrade({
  lab,
  shape,
  from,
  to,
  parts = [],
  observe,
}: UpgradeOptions): Promise<UpgradeResult & { readonly output: string }> {
  const cluster = await createUpCluster(lab, shape, from.slice(1), { parts })
  try {
    const { operator, identity, hosts } = cluster
    const api = parseKubeconfig((await operator.must(0, 'kubeconfig')).stdout)
    const access = { api, etcd: await issueClientCertificate(identity, 'etcd', 'test', []) }
    const clusterHosts = assignRoles(parseShape(shape), hosts)
    let output = ''
    const result = await upgradeUnderLoad('hyperkube', clusterHosts, access, async (kubeApi) => {
      const stop = observe?.(kubeApi, clusterHosts)
      try {
        output = (await operator.must(0, 'upgrade', '--to', to.slice(1), '--yes')).stderr
      } finally {
        await stop?.()
      }
    })
    return { ...result, output }
  } finally {
    await cluster.close()
  }
}

/**
 * Creates a kubeadm cluster and upgrades it with `kubeadm upgrade`. Each host has hyperkube's API server
 * proxy.
 */
export async function runKubeadmUpgrade({
  lab,
  shape,
  from,
  to,
  signal,
}: UpgradeOptions): Promise<UpgradeResult> {
  const options = { parts: selectParts(), cache: cacheDirectory(), report: silentReport, port: 0 }
  const mirror = await openMirror(lab, options)
  const [previousVersions, targetVersions] = [selectVersions(from), selectVersions(to)]
  try {
    const benchOptions = { contender: kubeadm, shape: parseShape(shape), lab, mirror: mirror.address, signal }
    const { access: initialAccess } = await runBench({ ...benchOptions, versions: previousVersions })
    const cast = assignRoles(parseShape(shape), await lab.hosts())
    const digests = await readDigests(mirror.address, machineArch())
    await prepareUpgrade({ clusterHosts: cast, mirror: mirror.address, digests }, targetVersions, signal)
    const { first } = selectHosts(cast)
    const admin = parseKubeconfig((await first.exec(['cat', '/etc/kubernetes/admin.conf'])).stdout)
    const hosts = [...cast.controlPlanes, ...cast.workers]
    await installProgram(hosts)
    await settleAll(
      hosts.map(async (host) => {
        const proxied = new ProxiedApi(host, cast.controlPlanes, admin, '127.0.0.1')
        await proxied.start()
        await proxied.waitForAllHealthy()
      }),
    )
    await switchToLocalProxy({ hosts, first, versions: targetVersions, signal })
    return await upgradeUnderLoad('kubeadm', cast, { ...initialAccess, api: admin }, async (api, note) => {
      await upgradeWithKubeadm({
        clusterHosts: cast,
        api,
        from: previousVersions,
        to: targetVersions,
        signal,
        note,
      })
    })
  } finally {
    await mirror.close()
  }
}

/** Runs an upgrade under load. All clients run on the last worker. */
async function upgradeUnderLoad(
  title: string,
  cast: ClusterHosts,
  access: Access,
  upgrade: (api: KubeApi, note: (message: string) => void) => Promise<unknown>,
): Promise<UpgradeResult> {
  const { first, client } = selectHosts(cast)
  const api = new KubeApi(`https://${first.address}:6443`, access.api)
  try {
    // Removes the probe workload, which is not part of the load.
    await removeProbeWorkload(api)
    const busy = await BusyCluster.open(api, client, access.api)
    const began = performance.now()
    const elapsedSeconds = (): number => (performance.now() - began) / 1000
    const note = (message: string): void =>
      void process.stderr.write(`${title}, ${elapsedSeconds().toFixed(0)} s: ${message}\n`)
    await upgrade(api, note).catch(async (error: unknown) => {
      // Stops the load. Errors of the load are ignored, because they would hide the error of the upgrade.
      await busy.stop(api).catch(() => undefined)
      throw error
    })
    const seconds = elapsedSeconds()
    const figures = await busy.stop(api)
    note(`upgraded; ${formatBusyFigures(figures)}`)
    return {
      seconds,
      figures,
      restarted: await countRestarts(api),
      versions: await readVersions(api, cast.controlPlanes, access),
    }
  } finally {
    api.close()
  }
}

function selectHosts({ controlPlanes, workers }: ClusterHosts): {
  readonly first: Host
  readonly client: Host
} {
  const [first, client] = [controlPlanes[0], workers.at(-1)]
  if (first === undefined || client === undefined) throw new Error('it takes a control plane and a worker')
  return { first, client }
}

interface PodList {
  readonly items: readonly {
    readonly status: { readonly containerStatuses?: readonly { readonly restartCount: number }[] }
  }[]
}

async function countRestarts(api: KubeApi): Promise<number> {
  const { items } = await api.get<PodList>('/api/v1/namespaces/default/pods')
  const counts = items.flatMap(({ status }) =>
    (status.containerStatuses ?? []).map((containerStatus) => containerStatus.restartCount),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

interface NodeList {
  readonly items: readonly { readonly status: { readonly nodeInfo: { readonly kubeletVersion: string } } }[]
}

async function readVersions(api: KubeApi, controlPlanes: readonly Host[], access: Access): Promise<string[]> {
  const { items } = await api.get<NodeList>('/api/v1/nodes')
  const versions = items.map(({ status }) => `kubelet ${status.nodeInfo.kubeletVersion}`)
  for (const { address } of controlPlanes) {
    const server = new KubeApi(`https://${address}:6443`, access.api)
    const member = new KubeApi(`https://${address}:2379`, access.etcd)
    try {
      versions.push(`kube-apiserver ${(await server.get<{ gitVersion: string }>('/version')).gitVersion}`)
      versions.push(`etcd v${(await member.get<{ etcdserver: string }>('/version')).etcdserver}`)
    } finally {
      server.close()
      member.close()
    }
  }
  return [...new Set(versions)].toSorted()
}
