import { nameOf } from '../../snapshot/name.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { save } from '../etcd/save.ts'
import { etcdFlags } from '../etcd/action.ts'
import { verify } from '../etcd/verify.ts'
import { openIdentity } from '../load-identity.ts'

/** The only way back from an upgrade: a snapshot of before, of which is known that it can be restored. */
export async function safeguard(
  context: Context,
  options: Invocation['options'],
  cluster: Cluster,
): Promise<ExitCode> {
  const name = nameOf(cluster.metadata.name, context.now())
  const scene = {
    // What came of it is not what this command was asked for.
    context: { ...context, stdout: context.stderr },
    options: { ...options, output: 'table' as const },
    flags: etcdFlags.parse({}),
    cluster,
    identity: async () => openIdentity(context, options, cluster.metadata.name),
    name,
  }
  context.stderr.write('first a snapshot, the only way back; --no-snapshot does without\n')
  const saved = await save(scene)
  return saved === exitCodes.ok ? verify(scene) : saved
}
