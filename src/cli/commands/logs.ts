import { Argument } from 'commander'
import { knownSecrets } from '../../identity/secret-files.ts'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import { listClusterEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import { listServiceNames } from '../../lifecycle/observe/services.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { openRemotes } from '../../workspace/ssh-connector.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { applyLogDefaults, logFlags, parseLinesFlag, parseTimeFlag } from '../logs/flags.ts'
import { allServices } from '../logs/all-services.ts'
import { showLogs } from '../logs/show-logs.ts'
import { formatFindings } from '../command/print.ts'

export const logsCommand: LeafCommand = {
  examples: [
    ['hyperkube logs etcd', 'show the last etcd log lines of all hosts, sorted by time'],
    [
      'hyperkube logs kubelet containerd --limit w2 --since 10m',
      'show two components of one host since 10 minutes ago',
    ],
    ['hyperkube logs -f', 'stream logs of all components until Ctrl-C'],
    ['hyperkube logs --since 2h --grep "timed out"', 'show only lines that contain a text'],
    ['hyperkube logs hyperkube-agent -o json', 'print JSON for scripts, one document per line'],
  ],
  sharedFlags: ['long-file', 'key', 'limit', 'output'],
  configure(command) {
    command
      .addArgument(new Argument('[component...]', 'components to show (default: all)').choices(allServices))
      .option(
        '--since <time>',
        'show lines since this time: 10m, 2h, 2026-11-15T12:00:00Z (default with --grep: 1h)',
        parseTimeFlag,
      )
      .option(
        '--until <time>',
        'show lines until this time: 10m, 2h, 2026-11-15T12:00:00Z (default: now)',
        parseTimeFlag,
      )
      .option(
        '-n, --lines <number>',
        'show at most this many lines per host (default: 100 without --since or --grep)',
        parseLinesFlag,
      )
      .option('--grep <text>', 'show only lines that contain this text, ignoring case')
      .option('-f, --follow', 'stream new lines until Ctrl-C')
  },
  async run(context, { args, options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const hosts = limitHosts(cluster, options.limit)
    const identity = await openIdentity(context, options, cluster.metadata.name)
    const endpoints = new Map(listClusterEndpoints(cluster).map((endpoint) => [endpoint.host, endpoint]))
    const components = args.length === 0 ? allServices : args
    const targets = hosts.flatMap((host) => {
      const endpoint = endpoints.get(host.name)
      const names =
        endpoint === undefined ? [] : listServiceNames(endpoint).filter((name) => components.includes(name))
      return names.length === 0 ? [] : [{ host, names }]
    })
    await using remotes = await openRemotes(
      context,
      options.file,
      cluster,
      identity,
      targets.map(({ host }) => host),
    )
    return await showLogs({
      context,
      output: options.output,
      flags: applyLogDefaults(logFlags.parse(options)),
      components: new Map(targets.map(({ host, names }) => [host.name, names])),
      connect: remotes.findRemote,
      mask: createSecretMask(knownSecrets(identity)),
    })
  },
}
