import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bare } from '../bare/bare.ts'
import { type Versions, versionsFor } from '../cluster/artifacts.ts'
import { kubeconfig } from '../cluster/configs.ts'
import { KubeApi } from '../cluster/kube-api.ts'
import { parseShape, shapeHosts } from '../cluster/shape.ts'
import { type KubernetesVersion, selectParts } from '../components/parts.ts'
import type { Lab } from '../hosts/lab.ts'
import { openMirror } from '../mirror/open-mirror.ts'
import type { Report } from '../report.ts'
import type { Times } from './milestones.ts'
import { runTrial } from './run-bench.ts'

export interface ClusterWish {
  readonly shape: string
  readonly kubernetes: KubernetesVersion
  readonly cache: string
  readonly report: Report
  readonly signal?: AbortSignal
}

export interface BareCluster {
  readonly api: KubeApi
  readonly versions: Versions
  readonly times: Times
}

/** Where a lab keeps the way into its cluster. */
export function kubeconfigFile(lab: Lab): string {
  return join(lab.directory, 'kubeconfig')
}

/** The bare engine on a lab's hosts, every milestone reached, and a kubeconfig for it. */
export async function startBareCluster(lab: Lab, wish: ClusterWish): Promise<BareCluster> {
  const shape = parseShape(wish.shape)
  const versions = versionsFor(wish.kubernetes)
  const mirror = await openMirror(lab, { ...wish, parts: selectParts(), port: 0 })
  try {
    await lab.up(shapeHosts(shape))
    const title = `cluster ${wish.shape}, Kubernetes ${wish.kubernetes}`
    const { times, access } = await wish.report.step(title, async (note) =>
      runTrial({
        contender: bare,
        shape,
        lab,
        mirror: mirror.address,
        versions,
        onMilestone: note,
        ...(wish.signal === undefined ? {} : { signal: wish.signal }),
      }),
    )
    const server = `https://${(await lab.host('cp1')).address}:6443`
    await writeFile(kubeconfigFile(lab), kubeconfig(server, access.api.authority, access.api), {
      mode: 0o600,
    })
    return { api: new KubeApi(server, access.api), versions, times }
  } finally {
    await mirror.close()
  }
}
