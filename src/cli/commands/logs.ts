import { Argument } from 'commander'
import { knownSecrets } from '../../identity/known-secrets.ts'
import { secretMask } from '../../kit/mask-secrets.ts'
import { nearest } from '../../kit/suggest.ts'
import { printable } from '../../kit/printable.ts'
import { placesIn } from '../../lifecycle/host-endpoints.ts'
import { serviceNames } from '../../lifecycle/status/services.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { limitHosts } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { bounded, linesFlag, logFlags, whenFlag } from '../logs/flags.ts'
import { showLogs } from '../logs/show-logs.ts'
import { openRemotes } from '../open-remotes.ts'
import { findingsText } from '../print.ts'

/** Of every host, whatever it is. */
const all = serviceNames({ host: '', address: '', etcd: true, api: true, manager: true, node: '' })

export const logs: CommandDefinition = {
  examples: [
    ['hyperkube logs etcd', 'the last lines of etcd on all hosts, in the order in which they were written'],
    ['hyperkube logs kubelet containerd --limit w2 --since 10m', 'of two components, on one host'],
    ['hyperkube logs --follow', 'of all components, as they come, until Ctrl-C'],
    ['hyperkube logs --since 2h --grep "timed out"', 'only lines with this in them'],
    ['hyperkube logs hyperkube-agent -o json', 'for programs: one document on a line'],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    command
      .addArgument(new Argument('[component...]', `of which: ${all.join(', ')} (default: all)`))
      .option('--since <time>', 'from then on: 10m, 2h, 2026-11-15T12:00:00Z', whenFlag)
      .option('--until <time>', 'up to then', whenFlag)
      .option(
        '-n, --lines <number>',
        'look at no more than the last ones of each host (default: 100 without --since; with --grep the last hour)',
        linesFlag,
      )
      .option('--grep <text>', 'only lines with this in them, however it is capitalized')
      .option('--follow', 'stay, and show what comes')
  },
  async run(context, { args, options }) {
    const unknown = args.find((name) => !all.includes(name))
    if (unknown !== undefined) {
      const meant = nearest(unknown, all)
      context.stderr.write(`USAGE: there is no component ${printable(unknown)}\n`)
      context.stderr.write(
        `  → ${meant === undefined ? `there are ${all.join(', ')}` : `did you mean ${meant}?`}\n`,
      )
      return exitCodes.usage
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const hosts = limitHosts(cluster, options.limit)
    const identity = await openIdentity(context, options, cluster.metadata.name)
    const places = new Map(placesIn(cluster).map((place) => [place.host, place]))
    const wanted = args.length === 0 ? all : args
    const asked = hosts.flatMap((host) => {
      const place = places.get(host.name)
      const names = place === undefined ? [] : serviceNames(place).filter((name) => wanted.includes(name))
      return names.length === 0 ? [] : [{ host, names }]
    })
    await using remotes = await openRemotes(
      context,
      options.file,
      cluster,
      identity,
      asked.map(({ host }) => host),
    )
    return await showLogs({
      context,
      output: options.output,
      flags: bounded(logFlags.parse(options)),
      components: new Map(asked.map(({ host, names }) => [host.name, names])),
      remoteOf: remotes.of,
      mask: secretMask(knownSecrets(identity)),
    })
  },
}
