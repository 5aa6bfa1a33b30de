import { createIdentity, type Identity } from '../../identity/identity.ts'
import { lockFor } from '../../plan/testing/fixtures.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Wish } from '../build-proposal.ts'

/** For tests: a cluster and all that belongs to it, with an identity of its own where none is given. */
export async function testWish(cluster: Cluster, identity?: Identity): Promise<Wish> {
  const { name } = cluster.metadata
  return {
    cluster,
    lock: lockFor(cluster.spec.kubernetes),
    identity: identity ?? (await createIdentity(name, new Date('2026-11-15T00:00:00Z'))),
    attachments: new Map(),
    sources: new Map(),
    version: () => '0.1.0',
  }
}
