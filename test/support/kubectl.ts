import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildEngine } from '../../lab/components/build.ts'
import { type KubernetesVersion, selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { type CommandResult, run as runCommand } from '../../src/kit/command.ts'
import type { UpCluster } from './up-cluster.ts'

/** What a person has who is given `hyperkube kubeconfig`: kubectl of the same version as the cluster. */
export interface Kubectl extends AsyncDisposable {
  run(...words: readonly string[]): Promise<CommandResult>
}

export async function kubectlOf(
  cluster: Pick<UpCluster, 'directory' | 'hyperkube'>,
  kubernetes: KubernetesVersion,
): Promise<Kubectl> {
  const config = join(cluster.directory, 'kubeconfig')
  await writeFile(config, (await cluster.hyperkube('kubeconfig')).stdout, { mode: 0o600 })
  const options = { cache: cacheDirectory(), report: silentReport }
  const [built] = await buildEngine(selectParts([`kubernetes@${kubernetes}`]), options)
  const program = join(built?.directory ?? '', 'kubectl')
  return {
    run: async (...words) => runCommand([program, `--kubeconfig=${config}`, ...words]),
    [Symbol.asyncDispose]: async () => rm(config),
  }
}
