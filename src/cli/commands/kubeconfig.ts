import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { formatDuration, parseDuration } from '../../kit/time-format.ts'
import { issueClientCredentials } from '../../lifecycle/cluster-client/operator-credentials.ts'
import { buildPersonalKubeconfig, type KubeconfigEndpoint } from '../../pki/kubeconfig.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { type CommandDefinition, exitCodes } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { parseServerFlag } from '../command/run-flags.ts'
import { listControlPlanes } from '../proxy/api-proxy.ts'

const day = 24 * 3_600_000
const flags = z.object({
  for: z.number().default(day),
  server: z.string().optional(),
  breakGlass: z.boolean().default(false),
})

/**
 * Group that is bound to the ClusterRole cluster-admin. Its members lose access when this binding is deleted.
 */
const adminGroup = 'hyperkube:admins'
/** Group that bypasses RBAC, for clusters whose RBAC is broken. */
const mastersGroup = 'system:masters'

export const kubeconfigCommand: CommandDefinition = {
  examples: [
    [
      'hyperkube kubeconfig > shop.kubeconfig',
      'write a kubeconfig, valid 24h, with one context per control plane',
    ],
    [
      'export KUBECONFIG=$PWD/shop.kubeconfig',
      'use the kubeconfig with kubectl, without changing ~/.kube/config',
    ],
    ['hyperkube kubeconfig --for 1h', 'limit the validity to one hour'],
    [
      'hyperkube kubeconfig --server https://127.0.0.1:6443',
      'connect through hyperkube proxy on this machine',
    ],
    ['hyperkube kubeconfig --break-glass --for 1h', 'bypass RBAC when RBAC is broken'],
  ],
  identity: true,
  configure(command) {
    command
      .option('--for <duration>', 'set the validity, at least 1m: 1h, 720h (default: 24h)', parseLifetimeFlag)
      .option('--server <url>', 'use this API server URL (default: spec.api.endpoint)', parseServerFlag)
      .option('--break-glass', 'authenticate as group system:masters, which bypasses RBAC')
  },
  async run(context, { options }) {
    const { for: lifetime, server, breakGlass } = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const { cas } = await openIdentity(context, options, cluster.metadata.name)
    const { user, machine } = context.operator
    const group = breakGlass ? mastersGroup : adminGroup
    const userName = `${user}@${machine}`
    const credentials = await issueClientCredentials(
      cas.kubernetes,
      userName,
      [group],
      context.now(),
      lifetime,
    )
    const config = buildPersonalKubeconfig(
      `${cluster.metadata.name}-${user}`,
      listEndpoints(cluster, server),
      {
        ca: trustedCas(cas.kubernetes),
        ...credentials,
      },
    )
    context.stdout.write(config.revealText())
    context.stderr.write(
      `good for ${formatDuration(lifetime)}, as ${userName} of ${group}; keep it to yourself\n`,
    )
    return exitCodes.ok
  },
}

function parseLifetimeFlag(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined || milliseconds < 60_000) {
    throw new InvalidArgumentError('write it as 30m, 8h or 720h; a minute is the least')
  }
  return milliseconds
}

/** Lists the API endpoint from --server or cluster.yml, if one is set, then each control plane. */
function listEndpoints(cluster: Cluster, server: string | undefined): KubeconfigEndpoint[] {
  const { metadata, spec } = cluster
  const preferred = server ?? (spec.api.endpoint && `https://${spec.api.endpoint}`)
  return [
    ...(preferred === undefined ? [] : [{ name: metadata.name, server: preferred }]),
    ...listControlPlanes(cluster).map((controlPlane) => ({
      name: `${metadata.name}-${controlPlane.name}`,
      server: `https://${controlPlane.server}`,
    })),
  ]
}
