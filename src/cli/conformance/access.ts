import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Authority } from '../../pki/ca.ts'
import { personalKubeconfig } from '../../pki/kubeconfig.ts'
import { credentialsFor } from '../../lifecycle/operator-credentials.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openApiProxy } from '../api-proxy.ts'
import type { Context } from '../command.ts'

/** Longer than the suite takes, on machines however slow. */
const lifetime = 12 * 3_600_000

/** How the suite reaches the cluster, for as long as it runs. */
export interface Access extends AsyncDisposable {
  readonly kubeconfig: string
  /** A directory for this person alone, gone with the access. */
  readonly directory: string
}

export interface AccessWish {
  readonly cluster: Cluster
  readonly kubernetes: Authority
  /** https://HOST:PORT; without it whichever control planes are well, so that one that goes ends nothing. */
  readonly server: string | undefined
  readonly say: (line: string) => void
}

/** An administrator's way to the API. The key is made for it, and only ever in a file that nobody else can read. */
export async function openAccess(
  context: Pick<Context, 'operator' | 'now'>,
  { cluster, kubernetes, server, say }: AccessWish,
): Promise<Access> {
  const { user, machine } = context.operator
  const who = `${user}@${machine}`
  const own = await credentialsFor(kubernetes, who, ['hyperkube:admins'], context.now(), lifetime)
  const proxy =
    server === undefined ? await openApiProxy(context, cluster, kubernetes, '127.0.0.1:0', say) : undefined
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-conformance-'))
  const close = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true })
    await proxy?.stop()
  }
  try {
    const entrance = { name: cluster.metadata.name, server: server ?? `https://127.0.0.1:${proxy?.port}` }
    const config = personalKubeconfig(user, [entrance], { authority: kubernetes.certificate, ...own })
    const kubeconfig = join(directory, 'kubeconfig')
    await writeFile(kubeconfig, config.revealText(), { mode: 0o600, flag: 'wx' })
    return { kubeconfig, directory, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}
