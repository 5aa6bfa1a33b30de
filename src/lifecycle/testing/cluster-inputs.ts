import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import { buildTestLock } from '../../plan/testing/fixtures.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { ClusterInputs } from '../inputs/cluster-inputs.ts'

/** For tests: inputs of a cluster. Creates an identity unless one is given. */
export async function buildClusterInputs(cluster: Cluster, identity?: Identity): Promise<ClusterInputs> {
  const { name } = cluster.metadata
  return {
    cluster,
    catalog: shippedCatalog,
    lock: buildTestLock(cluster.spec.kubernetes),
    identity: identity ?? (await createIdentity(name, new Date('2026-11-15T00:00:00Z'))),
    attachments: new Map(),
    sources: new Map(),
    charts: new Map(),
    version: () => '0.1.0',
  }
}
