import { HostKeys } from '../../lifecycle/host-keys.ts'
import { placesIn } from '../../lifecycle/places.ts'
import { hostServices, serviceNames } from '../../lifecycle/status/services.ts'
import { isWell, statusOf } from '../../lifecycle/status/status.ts'
import { trialOf } from '../../lifecycle/status/trial-of.ts'
import { surroundings } from '../../lifecycle/surroundings.ts'
import type { Remote } from '../../ssh/remote.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { openWays } from '../hosts.ts'
import { limitHosts } from '../limit.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { findingsText, print } from '../print.ts'
import { statusText } from '../status/text.ts'
import { viewOf } from '../up/propose.ts'

export const status: CommandDefinition = {
  examples: [
    [
      'hyperkube status',
      'how every host and every part of the cluster is; exit code 1 when something is not well',
    ],
    ['hyperkube status -o wide', 'with versions'],
    ['hyperkube status --limit w2 -o json', 'for programs, of one host'],
  ],
  identity: true,
  hosts: true,
  configure: () => undefined,
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const identity = await openIdentity(context, options, cluster.metadata.name)
    const names = new Set(limitHosts(cluster, options.limit).map(({ name }) => name))
    const places = placesIn(cluster)
    const ways = await openWays(context.operator, options.file, cluster, new HostKeys(identity))
    const remotes = new Map(
      cluster.spec.hosts.map((host) => [host.name, ways.connect(host, context.signal)] as const),
    )
    // Whoever needs one hears of it; that nobody does is no reason to end.
    for (const remote of remotes.values()) remote.catch(() => undefined)
    const remoteOf = async (host: string): Promise<Remote | undefined> => remotes.get(host)
    try {
      using observer = await surroundings(places, viewOf({ identity, cluster }, context, remoteOf))
      const statuses = await statusOf({
        places: places.filter(({ host }) => names.has(host)),
        observer,
        async services(place) {
          const remote = await remoteOf(place.host)
          return remote === undefined
            ? { version: undefined, services: [] }
            : hostServices(remote, serviceNames(place), context.signal)
        },
        async trial(place) {
          const remote = await remoteOf(place.host)
          return remote === undefined ? undefined : trialOf(remote, context.signal)
        },
      })
      const document = {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'Status',
        cluster: cluster.metadata.name,
        hosts: statuses,
      }
      print(context.stdout, options.output, document, () =>
        statusText(statuses, { wide: options.output === 'wide', now: context.now() }, context.paint),
      )
      return statuses.every(isWell) ? exitCodes.ok : exitCodes.failure
    } finally {
      await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
      ways.close()
    }
  },
}
