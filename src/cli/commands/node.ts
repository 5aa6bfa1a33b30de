import { Argument, InvalidArgumentError } from 'commander'
import { formatDuration } from '../../kit/time-format.ts'
import { drainTimeoutMs } from '../../lifecycle/drain/drain.ts'
import { hostRole } from '../../spec/host.ts'
import { type CommandDefinition, exitCodes } from '../command/command.ts'
import { parseTimeoutFlag } from '../command/deadline.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import type { NodeAction } from '../node/action.ts'
import { addNode, removeNode, replaceNode } from '../node/change-hosts.ts'
import { runDrain, runUncordon } from '../node/drain.ts'
import { formatFindings } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'

const actions: ReadonlyMap<string, NodeAction> = new Map([
  ['add', addNode],
  ['remove', removeNode],
  ['replace', replaceNode],
  ['drain', runDrain],
  ['uncordon', runUncordon],
])

export const nodeCommand: CommandDefinition = {
  examples: [
    ['hyperkube node add w3 --address 10.0.0.13', 'add w3 to cluster.yml and join the host to the cluster'],
    ['hyperkube node add cp4 --address 10.0.0.4 --role control-plane', 'add a control plane'],
    ['hyperkube node remove w1 --dry-run', 'show what would change'],
    ['hyperkube node remove w1', 'remove w1 from the cluster and cluster.yml, even if unreachable'],
    ['hyperkube node replace cp1 --by cp4 --address 10.0.0.4', 'replace cp1 with the new host cp4'],
    ['hyperkube node drain w1', 'list pods, prompt, then evict them within their PodDisruptionBudgets'],
    ['hyperkube node drain w1 --yes --deadline 30m', 'skip the prompt and allow 30 minutes for the drain'],
    ['hyperkube node drain w1 --force', 'also delete unmanaged pods'],
    ['hyperkube node uncordon w1', 'allow new pods on w1 again'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'action to run').choices([...actions.keys()]))
      .addArgument(new Argument('<name>', 'host name in cluster.yml, or node name'))
      .option('--address <address>', 'add, replace: connect to the new host at this SSH address')
      .option('--role <role>', 'add: assign this role to the new host (repeatable; default: worker)', addRole)
      .option('--by <name>', 'replace: set the name of the new host')
      .option(
        '--deadline <duration>',
        `drain: abort after this duration: 90s, 1h30m (default: ${formatDuration(drainTimeoutMs)})`,
        parseTimeoutFlag,
      )
      .option('--force', 'drain: also delete unmanaged pods; uncordon: also undo cordons set by others')
    addUpFlags(addRunFlags(command))
  },
  async run(context, { args, options }) {
    const [action = '', name = ''] = args
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    return (await actions.get(action)?.({ context, options, cluster, name })) ?? exitCodes.usage
  },
}

function addRole(text: string, previous: readonly string[] = []): readonly string[] {
  const parsed = hostRole.safeParse(text)
  if (!parsed.success) throw new InvalidArgumentError(`a role is one of ${hostRole.options.join(', ')}`)
  return [...new Set([...previous, parsed.data])]
}
