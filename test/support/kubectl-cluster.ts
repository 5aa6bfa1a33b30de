import { join } from 'node:path'
import { type BareCluster, kubeconfigFile, startBareCluster } from '../../lab/bench/bare-cluster.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildEngine } from '../../lab/components/build.ts'
import { kubernetesVersions, selectParts } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { silentReport } from '../../lab/report.ts'
import { type CommandResult, run } from '../../src/kit/command.ts'

export interface Cluster extends BareCluster {
  kubectl(words: readonly string[], input?: string): Promise<CommandResult>
}

/** The bare engine on a lab's hosts, with kubectl. */
export async function bareCluster(lab: Lab, shape: string): Promise<Cluster> {
  const options = { cache: cacheDirectory(), report: silentReport }
  const [kubernetes] = kubernetesVersions
  const cluster = await startBareCluster(lab, { shape, kubernetes, ...options })
  const [built] = await buildEngine(selectParts([`kubernetes@${kubernetes}`]), options)
  const program = join(built?.directory ?? '', 'kubectl')
  return {
    ...cluster,
    kubectl: async (words, input) =>
      run([program, `--kubeconfig=${kubeconfigFile(lab)}`, ...words], input === undefined ? {} : { input }),
  }
}
