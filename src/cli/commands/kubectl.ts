import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { Argument } from 'commander'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { issueAdminCredentials } from '../../lifecycle/cluster-client/operator-credentials.ts'
import { buildEmbeddedKubeconfig } from '../../pki/kubeconfig.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { requireLock } from '../../workspace/load-lock.ts'
import { openRemotes } from '../../workspace/ssh-connector.ts'
import { type CommandContext, exitCodes, type LeafCommand } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { buildCacheName, fetchLockedArtifact, findLocalArtifact } from '../environment/locked-program.ts'
import { cacheProgram } from '../environment/program-cache.ts'
import { createTemporaryDirectory, writeTemporary } from '../environment/temporary-directory.ts'
import { openTunnelServer } from '../kubectl/tunnel-server.ts'
import { openByteProgress } from '../render/byte-progress.ts'

/** Lifetime of the credentials. A `kubectl logs -f` that runs longer must be started again. */
const lifetimeMs = 3_600_000

export const kubectlCommand: LeafCommand = {
  examples: [
    ['hyperkube kubectl get nodes', 'list the nodes of the cluster'],
    ['hyperkube kubectl apply -f web.yml', 'all arguments after kubectl go to kubectl'],
    ['hyperkube -f berlin.yml kubectl get pods -A', 'flags of hyperkube come before kubectl'],
  ],
  sharedFlags: ['file', 'key'],
  configure: (command) =>
    command.addArgument(new Argument('[argument...]', 'arguments of kubectl')).usage('[options] kubectl …'),
  async run(context, { args, options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const kubectl = await prepareKubectl(context, options, cluster)
    const identity = await openIdentity(context, options, cluster.metadata.name)
    const controlPlanes = cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane'))
    await using remotes = await openRemotes(context, options.file, cluster, identity, controlPlanes)
    // A host may not know its own address for ssh: this can be a name in ~/.ssh/config, or a public address.
    const dials = controlPlanes.map(({ name }) => async (signal: AbortSignal) => {
      const remote = await remotes.findRemote(name)
      return remote.dial('127.0.0.1', cluster.spec.api.port, { signal })
    })
    await using tunnel = await openTunnelServer(dials, context.signal)
    await using work = await createTemporaryDirectory()
    const { operator } = context
    const { kubernetes } = identity.cas
    const credentials = await issueAdminCredentials(kubernetes, operator, context.now(), lifetimeMs)
    const { name } = cluster.metadata
    const access = {
      cluster: name,
      server: `https://127.0.0.1:${tunnel.port}`,
      user: `${name}-${operator.user}`,
    }
    const kubeconfig = buildEmbeddedKubeconfig(access, { ca: trustedCas(kubernetes), ...credentials })
    const file = join(work.path, 'kubeconfig')
    await writeTemporary(async () => context.privateFiles.create(file, kubeconfig.revealText()))
    return await context.runForeground([kubectl, ...args], { KUBECONFIG: file })
  },
}

/**
 * Returns the path of the kubectl that cluster.lock pins. If the cache lacks it, it is downloaded and
 * verified.
 */
async function prepareKubectl(
  context: CommandContext,
  files: ClusterFiles,
  cluster: Cluster,
): Promise<string> {
  const lock = await requireLock(context, files.file)
  const artifact = findLocalArtifact(lock, 'kubectl')
  using progress = openByteProgress(context)
  return await cacheProgram(context, buildCacheName(artifact), async (work) => {
    const file = await fetchLockedArtifact(artifact, work, { files, cluster, lock }, { ...context, progress })
    await chmod(file, 0o755)
    return file
  })
}
