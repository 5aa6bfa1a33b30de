import { join } from 'node:path'
import { type BareCluster, labKubeconfigPath, startBareCluster } from '../../lab/bench/bare-cluster.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { kubernetesVersions, selectParts } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { silentReport } from '../../lab/report.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'

export interface KubectlCluster extends BareCluster {
  kubectl(args: readonly string[], input?: string): Promise<CommandResult>
}

/** Starts the upstream components on lab hosts. The result can run kubectl. */
export async function startKubectlCluster(lab: Lab, shape: string): Promise<KubectlCluster> {
  const options = { cache: cacheDirectory(), report: silentReport }
  const [kubernetes] = kubernetesVersions
  const cluster = await startBareCluster(lab, { shape, kubernetes, ...options })
  const [built] = await buildComponents(selectParts([`kubernetes@${kubernetes}`]), options)
  const program = join(built?.directory ?? '', 'kubectl')
  return {
    ...cluster,
    kubectl: async (args, input) =>
      runProgram(
        [program, `--kubeconfig=${labKubeconfigPath(lab)}`, ...args],
        input === undefined ? {} : { input },
      ),
  }
}
