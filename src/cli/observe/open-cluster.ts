import type { Identity } from '../../identity/identity.ts'
import type { Sights } from '../../lifecycle/observe/observe-cluster.ts'
import { patience, sightsOf } from '../../lifecycle/observe/observe-deps.ts'
import { type Place, placesIn } from '../../lifecycle/host-endpoints.ts'
import { type Surroundings, surroundings } from '../../lifecycle/cluster-client.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context } from '../command.ts'
import { openRemotes } from '../open-remotes.ts'
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
  const remotes = await openRemotes(context, clusterFile, cluster, identity)
  try {
    const view = viewOf({ identity, cluster }, context, remotes.of)
    const around = await surroundings(places, { ...view, patience })
    return {
      places,
      api: around.api,
      sights: sightsOf(around, remotes.of),
      async [Symbol.asyncDispose]() {
        around[Symbol.dispose]()
        await remotes[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await remotes[Symbol.asyncDispose]()
    throw error
  }
}
