import { dirname } from 'node:path'
import { z } from 'zod'
import { knownSecrets } from '../../identity/secret-files.ts'
import { formatError } from '../../kit/errors.ts'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import { toPrintable } from '../../kit/text.ts'
import { formatFileTimestamp } from '../../kit/time-format.ts'
import { createClusterClient } from '../../lifecycle/cluster-client/create-cluster-client.ts'
import { listClusterEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import type { LogTime } from '../../lifecycle/logs/log-line.ts'
import { listServiceNames } from '../../lifecycle/observe/services.ts'
import { collectClusterFiles } from '../../lifecycle/support-bundle/collect-cluster.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { buildClientOptions, createEtcdClient } from '../../workspace/open-cluster.ts'
import { openRemotes } from '../../workspace/ssh-connector.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { parseLinesFlag, parseTimeFlag } from '../logs/flags.ts'
import { createSupportBundle } from '../support-bundle/create-support-bundle.ts'
import { formatSupportBundle } from '../support-bundle/text.ts'

const flags = z.object({
  out: z.string().optional(),
  since: z.custom<LogTime>().default({ ago: 24 * 3_600_000 }),
  lines: z.int().default(5000),
})

export const supportBundleCommand: LeafCommand = {
  examples: [
    [
      'hyperkube support-bundle',
      'collect logs, status and configuration without secrets into one local file',
    ],
    [
      'hyperkube support-bundle --out /tmp/shop.tar.gz --since 2h',
      'choose the output file and include only logs of two hours',
    ],
    ['hyperkube support-bundle --limit w2', 'include one host and cluster-wide data'],
  ],
  sharedFlags: ['file', 'key', 'limit', 'output'],
  configure(command) {
    command
      .option('--out <file>', 'write the support bundle to this file (default: NAME-support-TIME.tar.gz)')
      .option(
        '--since <time>',
        'include logs since this time: 2h, 2026-11-15T12:00:00Z (default: 24h)',
        parseTimeFlag,
      )
      .option(
        '-n, --lines <number>',
        'include at most this many lines per log (default: 5000)',
        parseLinesFlag,
      )
  },
  async run(context, { options }) {
    const { out, since, lines } = flags.parse(options)
    const { stdout, stderr, now, signal } = context
    const { cluster, findings } = await loadCluster(context, options.file)
    stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const { name } = cluster.metadata
    const path = out ?? `${name}-support-${formatFileTimestamp(now())}.tar.gz`
    const problem = (await context.exists(path))
      ? `${path} already exists`
      : (await context.exists(dirname(path)))
        ? undefined
        : `the directory ${dirname(path)} does not exist`
    if (problem !== undefined) {
      stderr.write(`USAGE: ${toPrintable(problem)}\n  → hyperkube support-bundle --out FILE\n`)
      return exitCodes.usage
    }
    const hosts = limitHosts(cluster, options.limit)
    const identity = await openIdentity(context, options, name)
    const endpoints = listClusterEndpoints(cluster)
    const mask = createSecretMask(knownSecrets(identity))
    await using remotes = await openRemotes(context, options.file, cluster, identity)
    using clusterClient = await createClusterClient(
      endpoints,
      buildClientOptions({ identity, cluster }, context, remotes.findRemote),
    )
    using etcd = await createEtcdClient(
      context,
      identity,
      endpoints.filter((endpoint) => endpoint.etcd),
      remotes.findRemote,
    )
    const bundle = await createSupportBundle(path, {
      context,
      cluster: name,
      hosts: hosts.map(({ name: host }) => {
        const endpoint = endpoints.find((one) => one.host === host)
        return { host, services: endpoint === undefined ? [] : listServiceNames(endpoint) }
      }),
      connect: remotes.findRemote,
      localFiles: [{ path: 'cluster.yml', text: await context.readFile(options.file) }],
      clusterEntries: collectClusterFiles({
        api: clusterClient.api,
        etcd,
        mask,
        formatReason: formatError,
        signal,
      }),
      since,
      lines,
      mask,
    })
    const document = { ...bundle.manifest, kind: 'SupportBundleMade', file: path, size: bundle.size }
    printResult(stdout, options.output, document, () => formatSupportBundle(path, bundle))
    return exitCodes.ok
  },
}
