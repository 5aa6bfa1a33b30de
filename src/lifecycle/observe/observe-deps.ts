import { observeEtcd } from '../../etcd/observe.ts'
import { listObjects } from '../../kube/read-objects.ts'
import { nodeKind } from '../cluster-objects/node.ts'
import type { ClusterClient } from '../cluster-client.ts'
import type { ObserveDeps } from './observe-cluster.ts'

/** A healthy etcd member or API server answers at once. A slower one counts as unreachable. */
export const serverTimeoutMs = 3000

/** Creates the connections of an observation. The operator reaches the cluster through ssh to its hosts. */
export function createObserveDeps(
  { api, etcd, apiReady }: Pick<ClusterClient, 'api' | 'etcd' | 'apiReady'>,
  connect: ObserveDeps['connect'],
): ObserveDeps {
  return {
    connect,
    etcd: async (signal) => observeEtcd(etcd, { signal, timeoutMs: serverTimeoutMs }),
    apiReady: async (host) => apiReady([host]),
    nodes: async (signal) => (await listObjects(api, nodeKind, { signal })).items,
  }
}
