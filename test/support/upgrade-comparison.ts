import { removeWorkload } from '../../lab/bench/workload.ts'
import { runTrial } from '../../lab/bench/run-bench.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { readDigests, versionsFor } from '../../lab/cluster/artifacts.ts'
import type { Access } from '../../lab/cluster/contender.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { type Cast, castOf, parseShape } from '../../lab/cluster/shape.ts'
import { machineArch } from '../../lab/components/build.ts'
import { type KubernetesVersion, selectParts } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { goBehindProxy } from '../../lab/kubeadm/local-proxy.ts'
import { kubeadm } from '../../lab/kubeadm/kubeadm.ts'
import { prepareUpgrade, upgradeByKubeadm } from '../../lab/kubeadm/upgrade.ts'
import { openMirror } from '../../lab/mirror/open-mirror.ts'
import { silentReport } from '../../lab/report.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { clientOf } from './client-certificate.ts'
import { BusyCluster, type BusyFigures, busyText } from './busy-cluster.ts'
import { credentialsIn } from './kubeconfig.ts'
import { installProgram } from './program.ts'
import { ProxiedApi } from './proxied-api.ts'
import { upCluster } from './up-cluster.ts'

/** What came of an upgrade of a cluster in use. */
export interface UpgradeTrial {
  readonly seconds: number
  readonly figures: BusyFigures
  /** How often containers of the service that is used began anew where they were: no drain does that. */
  readonly restarted: number
  /** What runs in the end, each once. */
  readonly versions: readonly string[]
}

export interface UpgradeWish {
  readonly lab: Lab
  readonly shape: string
  readonly from: KubernetesVersion
  readonly to: KubernetesVersion
  readonly signal: AbortSignal
}

/** A cluster that `hyperkube up` has made, by `hyperkube upgrade`. */
export async function hyperkubeTrial({ lab, shape, from, to }: UpgradeWish): Promise<UpgradeTrial> {
  const cluster = await upCluster(lab, shape, from.slice(1))
  try {
    const { operator, identity, hosts } = cluster
    const api = credentialsIn((await operator.must(0, 'kubeconfig')).stdout)
    const access = { api, etcd: await clientOf(identity, 'etcd', 'test', []) }
    return await underLoad('hyperkube', castOf(parseShape(shape), hosts), access, async () =>
      operator.must(0, 'upgrade', '--to', to.slice(1), '--yes'),
    )
  } finally {
    await cluster.close()
  }
}

/** A cluster that kubeadm has made, by `kubeadm upgrade`; each host has the proxy that hyperkube puts there. */
export async function kubeadmTrial({ lab, shape, from, to, signal }: UpgradeWish): Promise<UpgradeTrial> {
  const options = { parts: selectParts(), cache: cacheDirectory(), report: silentReport, port: 0 }
  const mirror = await openMirror(lab, options)
  const [was, wanted] = [versionsFor(from), versionsFor(to)]
  try {
    const wish = { contender: kubeadm, shape: parseShape(shape), lab, mirror: mirror.address, signal }
    const { access: made } = await runTrial({ ...wish, versions: was })
    const cast = castOf(parseShape(shape), await lab.hosts())
    const digests = await readDigests(mirror.address, machineArch())
    await prepareUpgrade({ cast, mirror: mirror.address, digests }, wanted, signal)
    const { first } = stage(cast)
    const admin = credentialsIn((await first.exec(['cat', '/etc/kubernetes/admin.conf'])).stdout)
    const hosts = [...cast.controlPlanes, ...cast.workers]
    await installProgram(hosts)
    await settleAll(
      hosts.map(async (host) => {
        const proxied = new ProxiedApi(host, cast.controlPlanes, admin, '127.0.0.1')
        await proxied.start()
        await proxied.allWell()
      }),
    )
    await goBehindProxy({ hosts, first, versions: wanted, signal })
    return await underLoad('kubeadm', cast, { ...made, api: admin }, async (api, note) => {
      await upgradeByKubeadm({ cast, api, from: was, to: wanted, signal, note })
    })
  } finally {
    await mirror.close()
  }
}

/** The same of both: the last worker is where everybody is who uses the cluster. */
async function underLoad(
  title: string,
  cast: Cast,
  access: Access,
  upgrade: (api: KubeApi, note: (said: string) => void) => Promise<unknown>,
): Promise<UpgradeTrial> {
  const { first, client } = stage(cast)
  const api = new KubeApi(`https://${first.address}:6443`, access.api)
  try {
    // What has shown that the cluster works is not part of the load.
    await removeWorkload(api)
    const busy = await BusyCluster.open(api, client, access.api)
    const began = performance.now()
    const passed = (): number => (performance.now() - began) / 1000
    const note = (said: string): void =>
      void process.stderr.write(`${title}, ${passed().toFixed(0)} s: ${said}\n`)
    await upgrade(api, note).catch(async (error: unknown) => {
      // Those who use the cluster go home; whatever they say, this was first.
      await busy.stop(api).catch(() => undefined)
      throw error
    })
    const seconds = passed()
    const figures = await busy.stop(api)
    note(`upgraded; ${busyText(figures)}`)
    return {
      seconds,
      figures,
      restarted: await restarts(api),
      versions: await versionsOf(api, cast.controlPlanes, access),
    }
  } finally {
    api.close()
  }
}

function stage({ controlPlanes, workers }: Cast): { readonly first: Host; readonly client: Host } {
  const [first, client] = [controlPlanes[0], workers.at(-1)]
  if (first === undefined || client === undefined) throw new Error('it takes a control plane and a worker')
  return { first, client }
}

interface PodList {
  readonly items: readonly {
    readonly status: { readonly containerStatuses?: readonly { readonly restartCount: number }[] }
  }[]
}

async function restarts(api: KubeApi): Promise<number> {
  const { items } = await api.get<PodList>('/api/v1/namespaces/default/pods')
  const counts = items.flatMap(({ status }) =>
    (status.containerStatuses ?? []).map((one) => one.restartCount),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

interface NodeList {
  readonly items: readonly { readonly status: { readonly nodeInfo: { readonly kubeletVersion: string } } }[]
}

async function versionsOf(api: KubeApi, controlPlanes: readonly Host[], access: Access): Promise<string[]> {
  const { items } = await api.get<NodeList>('/api/v1/nodes')
  const seen = items.map(({ status }) => `kubelet ${status.nodeInfo.kubeletVersion}`)
  for (const { address } of controlPlanes) {
    const server = new KubeApi(`https://${address}:6443`, access.api)
    const member = new KubeApi(`https://${address}:2379`, access.etcd)
    try {
      seen.push(`kube-apiserver ${(await server.get<{ gitVersion: string }>('/version')).gitVersion}`)
      seen.push(`etcd v${(await member.get<{ etcdserver: string }>('/version')).etcdserver}`)
    } finally {
      server.close()
      member.close()
    }
  }
  return [...new Set(seen)].toSorted()
}
