import { observeEtcd } from '../../etcd/observe.ts'
import { listObjects } from '../../kube/read-objects.ts'
import { nodeKind } from '../cluster-objects/node.ts'
import type { ClusterClient } from '../cluster-client.ts'
import type { ObserveDeps } from './observe-cluster.ts'

/** A healthy member or server answers at once; others are skipped. Milliseconds. */
export const serverTimeoutMs = 3000

/** Observes a cluster as an operator: through ssh connections to its hosts. */
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
