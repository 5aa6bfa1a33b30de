import packageFile from '../../package.json' with { type: 'json' }
import type { Wish } from '../lifecycle/build-proposal.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Context } from './command.ts'
import { type IdentityOptions, openIdentity } from './load-identity.ts'
import { requireLock } from './load-lock.ts'
import { readAddonSources } from './plan/addon-sources.ts'
import { readAttachments } from './plan/attachments.ts'

/** All that belongs to a cluster, from the files beside its own. */
export async function loadWish(context: Context, options: IdentityOptions, cluster: Cluster): Promise<Wish> {
  return {
    cluster,
    lock: await requireLock(context, options.file),
    identity: await openIdentity(context, options, cluster.metadata.name),
    attachments: await readAttachments(context, options.file, cluster),
    sources: await readAddonSources(context, options.file, cluster),
    version: () => packageFile.version,
  }
}
