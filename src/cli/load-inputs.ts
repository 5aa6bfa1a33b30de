import packageFile from '../../package.json' with { type: 'json' }
import type { ClusterInputs } from '../lifecycle/cluster-inputs.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { CommandContext } from './command.ts'
import { type IdentityOptions, openIdentity } from './load-identity.ts'
import { requireLock } from './load-lock.ts'
import { readAddonSources } from './plan/addon-sources.ts'
import { readAttachments } from './plan/attachments.ts'

/** Loads all files of a cluster: lock, identity, attachments and addon sources. */
export async function loadClusterInputs(
  context: CommandContext,
  options: IdentityOptions,
  cluster: Cluster,
): Promise<ClusterInputs> {
  return {
    cluster,
    lock: await requireLock(context, options.file),
    identity: await openIdentity(context, options, cluster.metadata.name),
    attachments: await readAttachments(context, options.file, cluster),
    sources: await readAddonSources(context, options.file, cluster),
    version: () => packageFile.version,
  }
}
