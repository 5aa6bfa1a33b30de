import { dirname } from 'node:path'
import { z } from 'zod'
import { knownSecrets } from '../../identity/known-secrets.ts'
import { describe } from '../../kit/errors.ts'
import { secretMask } from '../../kit/mask-secrets.ts'
import { printable } from '../../kit/printable.ts'
import { stampOf } from '../../kit/file-timestamp.ts'
import type { When } from '../../lifecycle/logs/host-log.ts'
import { placesIn } from '../../lifecycle/host-endpoints.ts'
import { serviceNames } from '../../lifecycle/status/services.ts'
import { gatherCluster } from '../../lifecycle/support-bundle/collect-cluster.ts'
import { surroundings } from '../../lifecycle/cluster-client.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { etcdThrough } from '../etcd/open-etcd.ts'
import { limitHosts } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { linesFlag, whenFlag } from '../logs/flags.ts'
import { openRemotes } from '../open-remotes.ts'
import { findingsText, print } from '../print.ts'
import { makeBundle } from '../support-bundle/create-support-bundle.ts'
import { bundleText } from '../support-bundle/text.ts'
import { viewOf } from '../up/propose.ts'

const flags = z.object({
  out: z.string().optional(),
  since: z.custom<When>().default({ ago: 24 * 3_600_000 }),
  lines: z.int().default(5000),
})

export const support: CommandDefinition = {
  examples: [
    ['hyperkube support', 'all that helps to find a fault, in one file beside you, without secrets'],
    ['hyperkube support --out /tmp/shop.tar.gz --since 2h', 'with a name, and shorter logs'],
    ['hyperkube support --limit w2', 'of one host, and of the cluster as a whole'],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    command
      .option('--out <file>', 'where it goes (default: NAME-support-TIME.tar.gz)')
      .option('--since <time>', 'logs from then on: 2h, 2026-11-15T12:00:00Z (default: 24h)', whenFlag)
      .option('-n, --lines <number>', 'of each log no more than the last ones (default: 5000)', linesFlag)
  },
  async run(context, { options }) {
    const { out, since, lines } = flags.parse(options)
    const { stdout, stderr, now, signal } = context
    const { cluster, findings } = await loadCluster(context, options.file)
    stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const { name } = cluster.metadata
    const path = out ?? `${name}-support-${stampOf(now())}.tar.gz`
    const wrong = (await context.exists(path))
      ? `${path} is there already`
      : (await context.exists(dirname(path)))
        ? undefined
        : `there is no directory ${dirname(path)}`
    if (wrong !== undefined) {
      stderr.write(`USAGE: ${printable(wrong)}\n  → hyperkube support --out FILE\n`)
      return exitCodes.usage
    }
    const hosts = limitHosts(cluster, options.limit)
    const identity = await openIdentity(context, options, name)
    const places = placesIn(cluster)
    const mask = secretMask(knownSecrets(identity))
    await using remotes = await openRemotes(context, options.file, cluster, identity)
    using around = await surroundings(places, viewOf({ identity, cluster }, context, remotes.of))
    using etcd = await etcdThrough(
      context,
      identity,
      places.filter((place) => place.etcd),
      remotes.of,
    )
    const made = await makeBundle(path, {
      context,
      cluster: name,
      hosts: hosts.map(({ name: host }) => {
        const place = places.find((one) => one.host === host)
        return { host, services: place === undefined ? [] : serviceNames(place) }
      }),
      remoteOf: remotes.of,
      own: [{ path: 'cluster.yml', text: await context.readFile(options.file) }],
      whole: gatherCluster({ api: around.api, etcd, mask, reasonOf: describe, signal }),
      since,
      lines,
      mask,
    })
    const document = { ...made.manifest, kind: 'SupportBundleMade', file: path, size: made.size }
    print(stdout, options.output, document, () => bundleText(path, made))
    return exitCodes.ok
  },
}
