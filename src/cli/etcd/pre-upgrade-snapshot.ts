import { buildSnapshotName } from '../../snapshot/store.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { etcdFlags } from './action.ts'
import { saveEtcdSnapshot } from './save.ts'
import { verifyStoredSnapshot } from './verify.ts'

/**
 * Saves a snapshot before the upgrade to a version, and verifies that it can be restored. Restoring this
 * snapshot is the only way to roll back.
 */
export async function takePreUpgradeSnapshot(
  context: CommandContext,
  options: Invocation['options'],
  cluster: Cluster,
  version: string,
): Promise<ExitCode> {
  const name = buildSnapshotName(cluster.metadata.name, context.now(), version)
  const invocation = {
    // The results of saving and verifying go to stderr, because they are not the result of this command.
    context: { ...context, stdout: context.stderr },
    options: { ...options, output: 'table' as const },
    flags: etcdFlags.parse({}),
    cluster,
    identity: async () => openIdentity(context, options, cluster.metadata.name),
    name,
  }
  context.stderr.write(
    `taking an etcd snapshot before ${version}, because a downgrade needs one; --no-snapshot skips it\n`,
  )
  const saveCode = await saveEtcdSnapshot(invocation)
  return saveCode === exitCodes.ok ? verifyStoredSnapshot(invocation) : saveCode
}
