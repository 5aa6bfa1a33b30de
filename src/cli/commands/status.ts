import { z } from 'zod'
import type { Identity } from '../../identity/identity.ts'
import { whyNotReady } from '../../lifecycle/cluster-objects/node-readiness.ts'
import { bounded } from '../../lifecycle/observe/call-with-timeout.ts'
import { lookAround } from '../../lifecycle/observe/observe-cluster.ts'
import { addonReadiness } from '../../lifecycle/status/addon-readiness.ts'
import { type ClusterStatus, clusterStatus } from '../../lifecycle/status/observed-cluster-status.ts'
import { type HostStatus, hostStatuses, isWell } from '../../lifecycle/status/observed-host-status.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type CommandDefinition, type Context, exitCodes, type Invocation } from '../command.ts'
import { limitHosts } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { openSights } from '../observe/open-cluster.ts'
import { findingsText, print } from '../print.ts'
import { clusterLine, clusterLines } from '../status/cluster-text.ts'
import { statusFromApi } from '../status/from-api.ts'
import { statusText } from '../status/text.ts'
import { watch } from '../status/watch.ts'

const flags = z.object({
  watch: z.boolean().default(false),
  fromApi: z.boolean().default(false),
  kubeconfig: z.string().optional(),
})

export const status: CommandDefinition = {
  examples: [
    [
      'hyperkube status',
      'how every host and every part of the cluster is; exit code 1 when something is not well',
    ],
    ['hyperkube status -o wide', 'with versions'],
    ['hyperkube status --watch', 'again every five seconds, until Ctrl-C'],
    ['hyperkube status --limit w2 -o json', 'for programs, of one host'],
    [
      'hyperkube status --kubeconfig ~/.kube/config',
      'what the cluster says of itself and how old that is, where there is neither ssh nor cluster.yml',
    ],
    ['hyperkube doctor', 'what is wrong, what it comes of, and what to type'],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    command
      .option('--watch', 'look again every five seconds')
      .option('--from-api', 'ask the API alone, by cluster.yml and its key, and no host by ssh')
      .option('--kubeconfig <file>', 'the same by a kubeconfig, without cluster.yml')
  },
  async run(context, invocation) {
    const { options } = invocation
    const { fromApi, kubeconfig, watch: again } = flags.parse(options)
    if (fromApi || kubeconfig !== undefined) {
      return statusFromApi(context, invocation, { kubeconfig, watch: again })
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const identity = await openIdentity(context, options, cluster.metadata.name)
    const show = async (stdout: Context['stdout']): Promise<readonly HostStatus[]> => {
      const seen = await look(context, options, cluster, identity)
      showStatus({ ...context, stdout }, options, cluster, seen)
      return seen.hosts
    }
    if (again) return watch(context, show)
    const hosts = await show(context.stdout)
    if (hosts.length > 0 && hosts.every(({ away }) => away !== undefined)) context.stderr.write(otherWay)
    return hosts.every(isWell) ? exitCodes.ok : exitCodes.failure
  },
}

const otherWay =
  'no host is reached by ssh; hyperkube status --from-api asks the API what the cluster says of itself\n'

interface Seen {
  readonly hosts: readonly HostStatus[]
  readonly summary: ClusterStatus
}

/** Objects of addons are few, and an API that is well answers at once. */
const addonTime = 10_000

/** Each time by new ways: a host may have come or gone since. */
async function look(
  context: Context,
  options: Invocation['options'],
  cluster: Cluster,
  identity: Identity,
): Promise<Seen> {
  const { now, signal } = context
  const only = new Set(limitHosts(cluster, options.limit).map(({ name }) => name))
  await using opened = await openSights(context, options.file, cluster, identity)
  const { places, sights, api } = opened
  const seen = await lookAround(places, sights, {
    only,
    now,
    signal,
    fresh: false,
    deep: false,
    certificates: true,
  })
  const away = seen.nodes?.filter((node) => whyNotReady(node) !== undefined).length
  const addons =
    away === undefined
      ? undefined
      : await bounded(addonTime, signal, async (until) => addonReadiness(api, away, { signal: until })).catch(
          () => undefined,
        )
  signal.throwIfAborted()
  return { hosts: hostStatuses(seen), summary: clusterStatus(seen, cluster.spec.kubernetes, addons) }
}

function showStatus(
  { stdout, paint, now }: Context,
  { output }: Invocation['options'],
  { metadata: { name } }: Cluster,
  { hosts, summary }: Seen,
): void {
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'Status', cluster: name, hosts, summary }
  print(stdout, output, document, () => {
    const table = statusText(hosts, { wide: output === 'wide', now: now() }, paint)
    const below = clusterLines(summary)
    return `${clusterLine(name, summary, paint)}\n${table}${below === '' ? '' : `\n${below}`}`
  })
}
