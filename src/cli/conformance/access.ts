import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ca } from '../../pki/ca.ts'
import { buildPersonalKubeconfig } from '../../pki/kubeconfig.ts'
import { issueAdminCredentials } from '../../lifecycle/cluster-client/operator-credentials.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openApiProxy } from '../proxy/api-proxy.ts'
import type { CommandContext } from '../command/command.ts'

/** Lifetime of the credentials, longer than the suite takes even on slow machines. */
const credentialLifetimeMs = 12 * 3_600_000

/** Access of the conformance suite to the cluster during a run. */
export interface SuiteAccess extends AsyncDisposable {
  readonly kubeconfig: string
  /** A private directory that is removed when the access is disposed. */
  readonly directory: string
}

export interface SuiteAccessOptions {
  readonly cluster: Cluster
  readonly ca: Ca
  /**
   * URL of an API server (https://HOST:PORT). If undefined, a proxy to all healthy control planes is used, so
   * the run survives the loss of a control plane.
   */
  readonly server: string | undefined
  readonly writeLine: (line: string) => void
}

/**
 * Opens access to the API with the permissions of an administrator. The credentials are created for this run
 * and stored in a kubeconfig that only the operator can read.
 */
export async function openSuiteAccess(
  context: Pick<CommandContext, 'operator' | 'now'>,
  { cluster, ca, server, writeLine }: SuiteAccessOptions,
): Promise<SuiteAccess> {
  const { operator } = context
  const credentials = await issueAdminCredentials(ca, operator, context.now(), credentialLifetimeMs)
  const proxy =
    server === undefined ? await openApiProxy(context, cluster, ca, '127.0.0.1:0', writeLine) : undefined
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-conformance-'))
  const close = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true })
    await proxy?.stop()
  }
  try {
    const apiServer = { name: cluster.metadata.name, server: server ?? `https://127.0.0.1:${proxy?.port}` }
    const config = buildPersonalKubeconfig(operator.user, [apiServer], { ca: ca.certificate, ...credentials })
    const kubeconfig = join(directory, 'kubeconfig')
    await writeFile(kubeconfig, config.revealText(), { mode: 0o600, flag: 'wx' })
    return { kubeconfig, directory, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}
