import { buildSigningKey } from '../../identity/signing-key.ts'
import { formatPublicKey } from '../../kit/signature.ts'
import { findManagedCluster, joinCluster } from '../../manager/fleet/management.ts'
import { connectToCluster } from '../../workspace/open-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import type { ManagedChange, ManagedClusterInput } from './managed-changes.ts'

/**
 * Prepares `fleet join` for one cluster. The management plane gets the public key and the labels of the cluster,
 * and no other secret or access.
 */
export async function prepareJoin({
  context,
  options,
  cluster,
  labels: { name: _name, ...labels },
  management,
}: ManagedClusterInput): Promise<ManagedChange> {
  const { name } = cluster.metadata
  const identity = await openIdentity(context, options, name)
  const isKnown = (await findManagedCluster(management, name, identity.id)) !== undefined
  return {
    change: isKnown ? 'new credential' : 'join',
    async execute() {
      await using opened = await connectToCluster(context, options.file, cluster, identity)
      const publicKey = formatPublicKey(buildSigningKey(identity).publicKey)
      const join = { name, labels, cluster: identity.id, publicKey }
      await joinCluster(management, opened.api, join)
    },
  }
}
