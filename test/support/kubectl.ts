import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { type KubernetesVersion, selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { type CommandResult, runProgram as runCommand } from '../../src/kit/command.ts'
import type { UpCluster } from './up-cluster.ts'

/** kubectl in the version of the cluster, with the kubeconfig that `hyperkube kubeconfig` prints. */
export interface Kubectl extends AsyncDisposable {
  run(...args: readonly string[]): Promise<CommandResult>
}

export async function openKubectl(
  cluster: Pick<UpCluster, 'directory' | 'hyperkube'>,
  kubernetes: KubernetesVersion,
): Promise<Kubectl> {
  const config = join(cluster.directory, 'kubeconfig')
  await writeFile(config, (await cluster.hyperkube('kubeconfig')).stdout, { mode: 0o600 })
  const options = { cache: cacheDirectory(), report: silentReport }
  const [built] = await buildComponents(selectParts([`kubernetes@${kubernetes}`]), options)
  const program = join(built?.directory ?? '', 'kubectl')
  return {
    run: async (...args) => runCommand([program, `--kubeconfig=${config}`, ...args]),
    [Symbol.asyncDispose]: async () => rm(config),
  }
}
