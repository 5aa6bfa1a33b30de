import { observe } from '../../etcd/observe.ts'
import { list } from '../../kube/read-objects.ts'
import { nodeKind } from '../cluster-objects/node.ts'
import type { Surroundings } from '../cluster-client.ts'
import type { Sights } from './observe-cluster.ts'

/** A member or a server that is well answers at once; whoever does not is passed over. In milliseconds. */
export const patience = 3000

/** How an operator sees a cluster: through the ssh of its hosts. */
export function sightsOf(
  { api, etcd, apiReady }: Pick<Surroundings, 'api' | 'etcd' | 'apiReady'>,
  connect: Sights['connect'],
): Sights {
  return {
    connect,
    etcd: async (signal) => observe(etcd, { signal, timeout: patience }),
    apiReady: async (host) => apiReady([host]),
    nodes: async (signal) => (await list(api, nodeKind, { signal })).items,
  }
}
