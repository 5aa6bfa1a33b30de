import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bare } from '../bare/bare.ts'
import { type Versions, selectVersions } from '../cluster/artifacts.ts'
import { renderKubeconfig } from '../cluster/configs.ts'
import { KubeApi } from '../cluster/kube-api.ts'
import { parseShape, listHostNames } from '../cluster/shape.ts'
import { type KubernetesVersion, selectParts } from '../components/parts.ts'
import type { Lab } from '../hosts/lab.ts'
import { openMirror } from '../mirror/open-mirror.ts'
import type { Report } from '../report.ts'
import type { Times } from './milestones.ts'
import { runBench } from './run-bench.ts'

export interface BareClusterOptions {
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

export function labKubeconfigPath(lab: Lab): string {
  return join(lab.directory, 'kubeconfig')
}

/**
 * Starts a cluster without a setup tool (bare) on a lab's hosts, waits for every milestone and writes a
 * kubeconfig.
 */
export async function startBareCluster(lab: Lab, options: BareClusterOptions): Promise<BareCluster> {
  const shape = parseShape(options.shape)
  const versions = selectVersions(options.kubernetes)
  const mirror = await openMirror(lab, { ...options, parts: selectParts(), port: 0 })
  try {
    await lab.up(listHostNames(shape))
    const title = `cluster ${options.shape}, Kubernetes ${options.kubernetes}`
    const { times, access } = await options.report.step(title, async (note) =>
      runBench({
        contender: bare,
        shape,
        lab,
        mirror: mirror.address,
        versions,
        onMilestone: note,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      }),
    )
    const server = `https://${(await lab.host('cp1')).address}:6443`
    await writeFile(labKubeconfigPath(lab), renderKubeconfig(server, access.api.ca, access.api), {
      mode: 0o600,
    })
    return { api: new KubeApi(server, access.api), versions, times }
  } finally {
    await mirror.close()
  }
}
