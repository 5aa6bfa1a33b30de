import type { Identity } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { HostKeys } from '../../lifecycle/host-keys.ts'
import type { Sights } from '../../lifecycle/look/look.ts'
import { patience, sightsOf } from '../../lifecycle/look/sights.ts'
import { type Place, placesIn } from '../../lifecycle/places.ts'
import { type Surroundings, surroundings } from '../../lifecycle/surroundings.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { Context } from '../command.ts'
import { openWays } from '../hosts.ts'
import { viewOf } from '../up/propose.ts'

/** The ways to see a cluster, as long as a command looks at it. */
export interface OpenSights extends AsyncDisposable, Pick<Surroundings, 'api'> {
  readonly places: readonly Place[]
  readonly sights: Sights
}

/** Goes to all hosts at once. Whoever needs one that does not answer hears of it. */
export async function openSights(
  context: Context,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
): Promise<OpenSights> {
  const places = placesIn(cluster)
  const ways = await openWays(context.operator, clusterFile, cluster, new HostKeys(identity))
  const remotes = new Map(
    cluster.spec.hosts.map((host) => [host.name, ways.connect(host, context.signal)] as const),
  )
  // That nobody needs one is no reason to end.
  for (const remote of remotes.values()) remote.catch(() => undefined)
  const close = async (): Promise<void> => {
    await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
    ways.close()
  }
  const connect = async (host: string): Promise<Remote> => {
    const remote = remotes.get(host)
    if (remote === undefined)
      throw new HyperkubeError('LIMIT_UNKNOWN_HOST', `the cluster has no host ${host}`)
    return remote
  }
  try {
    const view = viewOf({ identity, cluster }, context, connect)
    const around = await surroundings(places, { ...view, patience })
    return {
      places,
      api: around.api,
      sights: sightsOf(around, connect),
      async [Symbol.asyncDispose]() {
        around[Symbol.dispose]()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
