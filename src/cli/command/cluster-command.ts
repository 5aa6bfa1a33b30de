import type { Cluster } from '../../spec/cluster.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { type CommandContext, exitCodes, type Invocation, type LeafCommand } from './command.ts'
import { formatFindings } from './print.ts'

/** Arguments of an action that needs a valid cluster.yml. */
export interface ClusterInvocation extends Invocation {
  readonly context: CommandContext
  readonly cluster: Cluster
}

/** Builds a command that prints the findings about cluster.yml and runs its action if the file is valid. */
export function buildClusterCommand(
  action: (invocation: ClusterInvocation) => Promise<number>,
  definition: Omit<LeafCommand, 'run'>,
): LeafCommand {
  return {
    ...definition,
    async run(context, { args, options }) {
      const { cluster, findings } = await loadCluster(context, options.file)
      context.stderr.write(formatFindings(findings))
      return cluster === undefined ? exitCodes.failure : action({ context, args, options, cluster })
    },
  }
}
