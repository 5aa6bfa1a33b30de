import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { type Fetch, fetchScript, imageDirectory, programFetch, type Versions } from '../cluster/artifacts.ts'
import type { SetupContext } from '../cluster/contender.ts'
import { importImages } from '../cluster/import-images.ts'
import type { KubeApi } from '../cluster/kube-api.ts'
import { sendFiles } from '../cluster/send-files.ts'
import { machineArch } from '../components/build.ts'
import type { Host } from '../hosts/host.ts'
import { renderUpgradeConfig } from './configs.ts'
import { formatEtcdTag, listImageFetches } from './images.ts'

const configFile = 'etc/kubernetes/upgrade.yaml'
const stepTimeoutMs = 300_000

/**
 * Downloads the new programs without replacing the old ones, and imports the new images into containerd. This
 * runs before the time measurement starts.
 */
export async function prepareUpgrade(
  context: Pick<SetupContext, 'clusterHosts' | 'mirror' | 'digests'>,
  to: Versions,
  signal: AbortSignal,
): Promise<void> {
  const { controlPlanes, workers } = context.clusterHosts
  await settleAll(
    [...controlPlanes, ...workers].map(async (host) => {
      const fetches = [...listStagedPrograms(to), ...listImageFetches(to, controlPlanes.includes(host))]
      await sendFiles(host, { [configFile]: renderUpgradeConfig() })
      await host.script(`rm -rf ${imageDirectory}\n${fetchScript(context, fetches)}${importImages}`, {
        signal,
      })
    }),
  )
}

function listStagedPrograms(to: Versions): Fetch[] {
  return ['kubeadm', 'kubelet', 'kubectl'].map((name) => ({
    path: programFetch(`kubernetes@${to.kubernetes}`, name, machineArch()).path,
    into: { file: stagedPath(to, name) },
  }))
}

function stagedPath({ kubernetes }: Versions, program: string): string {
  return `/opt/kubernetes-${kubernetes}/${program}`
}

function formatInstallCommand(to: Versions, program: string): string {
  return `install -m 755 ${stagedPath(to, program)} /usr/local/bin/${program}`
}

type UpgradeHost = Pick<Host, 'name' | 'script'>

export interface UpgradeOptions {
  readonly clusterHosts: {
    readonly controlPlanes: readonly UpgradeHost[]
    readonly workers: readonly UpgradeHost[]
  }
  readonly api: Pick<KubeApi, 'get'>
  readonly from: Versions
  readonly to: Versions
  readonly signal: AbortSignal
  /** Called with a message when a command is repeated, and when a node has the new version. */
  readonly note: (message: string) => void
}

/**
 * Upgrades a cluster as upstream documents it: one node at a time, control planes first. Each node is drained
 * before its kubelet is replaced, and must be healthy before the next node follows. kubectl runs on the first
 * control plane.
 */
export async function upgradeWithKubeadm(upgrade: UpgradeOptions): Promise<void> {
  const { clusterHosts, from, to, signal, note } = upgrade
  const [first] = clusterHosts.controlPlanes
  if (first === undefined) throw new Error('a cluster has at least one control plane')
  await first.script(`${formatKubectlCommand(to)} -n kube-system get configmap kubeadm-config -o yaml |
sed 's/imageTag: ${formatEtcdTag(from)}/imageTag: ${formatEtcdTag(to)}/' | ${formatKubectlCommand(to)} replace -f -`)
  for (const host of [...clusterHosts.controlPlanes, ...clusterHosts.workers]) {
    const verb = host === first ? `apply ${to.kubernetes} --yes` : 'node'
    await runWithRetry(
      host,
      `${formatInstallCommand(to, 'kubeadm')}\nkubeadm upgrade ${verb} --config /${configFile}`,
      upgrade,
    )
    await waitUntilHealthy(host, from, upgrade)
    await runWithRetry(
      first,
      `${formatKubectlCommand(to)} drain ${host.name} --ignore-daemonsets --timeout=${stepTimeoutMs / 1000}s`,
      upgrade,
    )
    await host.script(
      `${formatInstallCommand(to, 'kubelet')}\nsystemctl daemon-reload\nsystemctl restart kubelet`,
      {
        signal,
      },
    )
    await waitUntilHealthy(host, to, upgrade)
    await runWithRetry(first, `${formatKubectlCommand(to)} uncordon ${host.name}`, upgrade)
    note(`${host.name} has ${to.kubernetes}`)
  }
}

/** Repeats a command that fails because the API server is briefly unreachable, as an operator would. */
async function runWithRetry(
  host: UpgradeHost,
  command: string,
  { signal, note }: UpgradeOptions,
): Promise<void> {
  await pollUntil(
    `the command on ${host.name} to succeed`,
    async () => {
      const { code, stderr } = await host.script(command, { signal, allowFailure: true })
      if (code !== 0) note(`${host.name} retries: ${stderr.trim().slice(0, 200)}`)
      return code === 0
    },
    { timeoutMs: stepTimeoutMs, intervalMs: 3000, signal },
  )
}

export function formatKubectlCommand(to: Versions): string {
  return `${stagedPath(to, 'kubectl')} --kubeconfig=/etc/kubernetes/admin.conf`
}

interface Conditions {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
}

interface Node {
  readonly status: Conditions & { readonly nodeInfo: { readonly kubeletVersion: string } }
}

interface PodList {
  readonly items: readonly { readonly status: Conditions & { readonly phase: string } }[]
}

/** Waits until the node is Ready with a kubelet of this version, and all kube-system pods on it are ready. */
async function waitUntilHealthy(
  { name }: UpgradeHost,
  { kubernetes }: Versions,
  { api, signal }: UpgradeOptions,
): Promise<void> {
  const pods = `/api/v1/namespaces/kube-system/pods?fieldSelector=spec.nodeName%3D${name}`
  const isUpgraded = async (): Promise<boolean> => {
    const { status } = await api.get<Node>(`/api/v1/nodes/${name}`)
    const { items } = await api.get<PodList>(pods)
    return (
      status.nodeInfo.kubeletVersion === kubernetes &&
      isReady(status) &&
      items.every((pod) => pod.status.phase === 'Succeeded' || isReady(pod.status))
    )
  }
  await pollUntil(`${name} to be healthy with ${kubernetes}`, isUpgraded, {
    timeoutMs: stepTimeoutMs,
    intervalMs: 250,
    signal,
  })
}

function isReady({ conditions = [] }: Conditions): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}
