import { delimiter, dirname, join } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { parse } from 'yaml'
import { z } from 'zod'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { formatDuration, formatFileTimestamp, parseDuration } from '../../kit/time-format.ts'
import { adminGroup, issueAdminCredentials } from '../../lifecycle/cluster-client/operator-credentials.ts'
import { buildPersonalKubeconfig, type KubeconfigEndpoint } from '../../pki/kubeconfig.ts'
import { mergeKubeconfig } from '../../pki/merge-kubeconfig.ts'
import { selectApiEndpoint } from '../../spec/api.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import {
  type CommandContext,
  type ExitCode,
  exitCodes,
  type LeafCommand,
  type OutputFormat,
} from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { parseServerFlag } from '../command/run-flags.ts'
import { listControlPlanes } from '../proxy/api-proxy.ts'

const day = 24 * 3_600_000
const flags = z.object({
  for: z.number().default(day),
  server: z.string().optional(),
  breakGlass: z.boolean().default(false),
  merge: z.union([z.string(), z.literal(true)]).optional(),
  dryRun: z.boolean().default(false),
})

/** Group that bypasses RBAC, for clusters whose RBAC is broken. */
const mastersGroup = 'system:masters'

export const kubeconfigCommand: LeafCommand = {
  examples: [
    [
      '(umask 077; hyperkube kubeconfig > shop.kubeconfig)',
      'write a kubeconfig, valid 24h, with one context per control plane',
    ],
    [
      'export KUBECONFIG=$PWD/shop.kubeconfig',
      'use the kubeconfig with kubectl, without changing ~/.kube/config',
    ],
    [
      'hyperkube kubeconfig --merge',
      'add the cluster to ~/.kube/config; back up the file and keep all other clusters',
    ],
    ['hyperkube kubeconfig --for 1h', 'limit the validity to one hour'],
    [
      'hyperkube kubeconfig --server https://127.0.0.1:6443',
      'connect through hyperkube proxy on this machine',
    ],
    ['hyperkube kubeconfig --break-glass --for 1h', 'bypass RBAC when RBAC is broken'],
  ],
  sharedFlags: ['file', 'key', 'output'],
  configure(command) {
    command
      .option('--for <duration>', 'set the validity, at least 1m: 1h, 720h (default: 24h)', parseLifetimeFlag)
      .option(
        '--server <url>',
        'use this API server URL (default: spec.api.endpoint or virtualIP)',
        parseServerFlag,
      )
      .option(
        '--merge [file]',
        'merge into this kubeconfig instead of printing (default: KUBECONFIG, or ~/.kube/config)',
      )
      .option('--dry-run', 'with --merge: show what would change, without changing anything; exit code 3')
      .option('--break-glass', 'authenticate as group system:masters, which bypasses RBAC')
  },
  async run(context, { options }) {
    const { for: lifetime, server, breakGlass, merge, dryRun } = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const { cas } = await openIdentity(context, options, cluster.metadata.name)
    const { user, machine } = context.operator
    const group = breakGlass ? mastersGroup : adminGroup
    const userName = `${user}@${machine}`
    const credentials = await issueAdminCredentials(
      cas.kubernetes,
      context.operator,
      context.now(),
      lifetime,
      group,
    )
    const config = buildPersonalKubeconfig(
      `${cluster.metadata.name}-${user}`,
      listEndpoints(cluster, server),
      {
        ca: trustedCas(cas.kubernetes),
        ...credentials,
      },
    )
    const validity = `valid for ${formatDuration(lifetime)} as user ${userName} of group ${group}`
    if (merge === undefined) {
      context.stdout.write(formatKubeconfig(config.revealText(), options.output))
      context.stderr.write(`${validity}; the kubeconfig contains a private key, so do not share it\n`)
      return exitCodes.ok
    }
    const file = merge === true ? findDefaultKubeconfig(context) : merge
    return mergeIntoFile(context, file, config.revealText(), { dryRun, validity })
  },
}

function formatKubeconfig(yaml: string, output: OutputFormat): string {
  return output === 'json' ? `${JSON.stringify(parse(yaml), undefined, 2)}\n` : yaml
}

/** Returns the file that kubectl changes: the first of KUBECONFIG, or ~/.kube/config. */
function findDefaultKubeconfig({ environment, operator }: CommandContext): string {
  const [first] = environment.kubeconfig?.split(delimiter).filter((path) => path !== '') ?? []
  return first ?? join(operator.home, '.kube', 'config')
}

/** Merges a kubeconfig into a file. The previous file is kept beside it. */
async function mergeIntoFile(
  context: CommandContext,
  file: string,
  added: string,
  { dryRun, validity }: { readonly dryRun: boolean; readonly validity: string },
): Promise<ExitCode> {
  const { exists, readFile, privateFiles, makePrivateDirectory, stderr, now } = context
  const before = (await exists(file)) ? await readFile(file) : undefined
  const merged = mergeKubeconfig(before ?? '', added)
  const changes = [
    ...merged.added.map((name) => `+ context ${name}\n`),
    ...merged.updated.map((name) => `~ context ${name}\n`),
  ]
  stderr.write(`${file}\n${changes.join('')}`)
  if (dryRun) return exitCodes.changesPending
  if (before !== undefined) {
    const backup = `${file}.${formatFileTimestamp(now())}.bak`
    await privateFiles.create(backup, before)
    stderr.write(`the previous file is ${backup}\n`)
  }
  await makePrivateDirectory(dirname(file))
  await privateFiles.replace(file, merged.text)
  const [contextName = ''] = [...merged.added, ...merged.updated]
  stderr.write(`${validity}; the current context is ${merged.currentContext}\n`)
  stderr.write(`  → kubectl --context ${contextName} get nodes\n`)
  return exitCodes.ok
}

function parseLifetimeFlag(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined || milliseconds < 60_000) {
    throw new InvalidArgumentError('expected a duration of at least 1m, such as 30m, 8h or 720h')
  }
  return milliseconds
}

/** Lists the API endpoint from --server or cluster.yml, if one is set, then each control plane. */
function listEndpoints(cluster: Cluster, server: string | undefined): KubeconfigEndpoint[] {
  const { metadata, spec } = cluster
  const endpoint = selectApiEndpoint(spec.api)
  const preferred = server ?? (endpoint && `https://${endpoint}`)
  return [
    ...(preferred === undefined ? [] : [{ name: metadata.name, server: preferred }]),
    ...listControlPlanes(cluster).map((controlPlane) => ({
      name: `${metadata.name}-${controlPlane.name}`,
      server: `https://${controlPlane.server}`,
    })),
  ]
}
