import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { type Fetch, fetchScript, imageDirectory, programFetch, type Versions } from '../cluster/artifacts.ts'
import type { Ground } from '../cluster/contender.ts'
import { importImages } from '../cluster/import-images.ts'
import type { KubeApi } from '../cluster/kube-api.ts'
import { sendFiles } from '../cluster/send-files.ts'
import { machineArch } from '../components/build.ts'
import type { Host } from '../hosts/host.ts'
import { upgradeConfig } from './configs.ts'
import { etcdTag, imageFetches } from './images.ts'

const configFile = 'etc/kubernetes/upgrade.yaml'
const patience = 300_000

/** Before anybody takes the time: new programs lie beside the old ones, and containerd has the new images. */
export async function prepareUpgrade(
  ground: Pick<Ground, 'cast' | 'mirror' | 'digests'>,
  to: Versions,
  signal: AbortSignal,
): Promise<void> {
  const { controlPlanes, workers } = ground.cast
  await settleAll(
    [...controlPlanes, ...workers].map(async (host) => {
      const fetches = [...stagedPrograms(to), ...imageFetches(to, controlPlanes.includes(host))]
      await sendFiles(host, { [configFile]: upgradeConfig() })
      await host.script(`rm -rf ${imageDirectory}\n${fetchScript(ground, fetches)}${importImages}`, {
        signal,
      })
    }),
  )
}

function stagedPrograms(to: Versions): Fetch[] {
  return ['kubeadm', 'kubelet', 'kubectl'].map((name) => ({
    path: programFetch(`kubernetes@${to.kubernetes}`, name, machineArch()).path,
    into: { file: staged(to, name) },
  }))
}

function staged({ kubernetes }: Versions, program: string): string {
  return `/opt/kubernetes-${kubernetes}/${program}`
}

function install(to: Versions, program: string): string {
  return `install -m 755 ${staged(to, program)} /usr/local/bin/${program}`
}

type Hand = Pick<Host, 'name' | 'script'>

export interface Upgrade {
  readonly cast: { readonly controlPlanes: readonly Hand[]; readonly workers: readonly Hand[] }
  readonly api: Pick<KubeApi, 'get'>
  readonly from: Versions
  readonly to: Versions
  readonly signal: AbortSignal
  /** Hears of each node that has the new version. */
  readonly note: (said: string) => void
}

/**
 * As upstream's documentation has it, by somebody careful: control planes first, one node at a time, pods moved away
 * before its kubelet changes, and on to the next one only when all is well on it. kubectl is used on the first one.
 */
export async function upgradeByKubeadm(upgrade: Upgrade): Promise<void> {
  const { cast, from, to, signal, note } = upgrade
  const [first] = cast.controlPlanes
  if (first === undefined) throw new Error('a cluster has at least one control plane')
  await first.script(`${kubectl(to)} -n kube-system get configmap kubeadm-config -o yaml |
sed 's/imageTag: ${etcdTag(from)}/imageTag: ${etcdTag(to)}/' | ${kubectl(to)} replace -f -`)
  for (const host of [...cast.controlPlanes, ...cast.workers]) {
    const verb = host === first ? `apply ${to.kubernetes} --yes` : 'node'
    await typed(host, `${install(to, 'kubeadm')}\nkubeadm upgrade ${verb} --config /${configFile}`, upgrade)
    await wellOn(host, from, upgrade)
    await typed(
      first,
      `${kubectl(to)} drain ${host.name} --ignore-daemonsets --timeout=${patience / 1000}s`,
      upgrade,
    )
    await host.script(`${install(to, 'kubelet')}\nsystemctl daemon-reload\nsystemctl restart kubelet`, {
      signal,
    })
    await wellOn(host, to, upgrade)
    await typed(first, `${kubectl(to)} uncordon ${host.name}`, upgrade)
    note(`${host.name} has ${to.kubernetes}`)
  }
}

/** What fails because the API server is just away is typed once more, as people do. */
async function typed(host: Hand, command: string, { signal, note }: Upgrade): Promise<void> {
  await until(
    `${host.name} to do what it was told`,
    async () => {
      const { code, stderr } = await host.script(command, { signal, allowFailure: true })
      if (code !== 0) note(`${host.name} is told again: ${stderr.trim().slice(0, 200)}`)
      return code === 0
    },
    { within: patience, every: 3000, signal },
  )
}

export function kubectl(to: Versions): string {
  return `${staged(to, 'kubectl')} --kubeconfig=/etc/kubernetes/admin.conf`
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

/** The node is Ready with a kubelet of this version, and so are the cluster's own pods on it. */
async function wellOn({ name }: Hand, { kubernetes }: Versions, { api, signal }: Upgrade): Promise<void> {
  const pods = `/api/v1/namespaces/kube-system/pods?fieldSelector=spec.nodeName%3D${name}`
  const look = async (): Promise<boolean> => {
    const { status } = await api.get<Node>(`/api/v1/nodes/${name}`)
    const { items } = await api.get<PodList>(pods)
    return (
      status.nodeInfo.kubeletVersion === kubernetes &&
      isReady(status) &&
      items.every((pod) => pod.status.phase === 'Succeeded' || isReady(pod.status))
    )
  }
  await until(`${name} to be well with ${kubernetes}`, look, { within: patience, every: 250, signal })
}

function isReady({ conditions = [] }: Conditions): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}
