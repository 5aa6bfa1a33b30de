import packageFile from '../../package.json' with { type: 'json' }
import { type Lock, readLock } from '../catalog/lock.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import type { Wish } from '../lifecycle/survey.ts'
import type { Cluster } from '../spec/cluster.ts'
import { fileFlag, lockFile } from './beside.ts'
import type { Context } from './command.ts'
import { type IdentityOptions, openIdentity } from './load-identity.ts'
import { readAttachments } from './plan/attachments.ts'

/** All that belongs to a cluster, from the files beside its own. */
export async function loadWish(context: Context, options: IdentityOptions, cluster: Cluster): Promise<Wish> {
  return {
    cluster,
    lock: await requireLock(context, options.file),
    identity: await openIdentity(context, options, cluster.metadata.name),
    attachments: await readAttachments(context, options.file, cluster),
    version: () => packageFile.version,
  }
}

async function requireLock({ readFile }: Context, clusterFile: string): Promise<Lock> {
  const file = lockFile(clusterFile)
  try {
    return readLock(file, await readFile(file))
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause
    throw new HyperkubeError('LOCK_NOT_READ', `${file} does not exist`, {
      hint: `write it: hyperkube lock${fileFlag(clusterFile)}`,
    })
  }
}
