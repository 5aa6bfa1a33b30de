import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { versionsFor } from '../../lab/bare/artifacts.ts'
import { bare } from '../../lab/bare/bare.ts'
import { kubeconfig } from '../../lab/bare/configs.ts'
import { parseShape } from '../../lab/bare/shape.ts'
import { KubeApi } from '../../lab/bench/kube-api.ts'
import { runTrial } from '../../lab/bench/trial.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildEngine } from '../../lab/engine/build.ts'
import { selectParts } from '../../lab/engine/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { silentReport } from '../../lab/report.ts'
import { type CommandResult, run } from '../../src/kit/command.ts'
import { mirrorFor } from './lab.ts'

export interface Cluster {
  readonly api: KubeApi
  kubectl(words: readonly string[], input?: string): Promise<CommandResult>
}

/** The bare engine on a lab's hosts, all milestones reached. */
export async function bareCluster(lab: Lab, shape: string): Promise<Cluster> {
  const mirror = await mirrorFor(lab)
  try {
    const { access } = await runTrial({
      contender: bare,
      shape: parseShape(shape),
      lab,
      mirror: mirror.address,
      versions: versionsFor('v1.37.1'),
    })
    const server = `https://${(await lab.host('cp1')).address}:6443`
    const config = join(lab.directory, 'kubeconfig')
    await writeFile(config, kubeconfig(server, access.api.authority, access.api), { mode: 0o600 })
    const { parts } = selectParts(['kubernetes@v1.37.1'])
    const [kubernetes] = await buildEngine(parts, { cache: cacheDirectory(), report: silentReport })
    const program = join(kubernetes?.directory ?? '', 'kubectl')
    return {
      api: new KubeApi(server, access.api),
      kubectl: async (words, input) =>
        run([program, `--kubeconfig=${config}`, ...words], input === undefined ? {} : { input }),
    }
  } finally {
    await mirror.close()
  }
}
