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
    ['hyperkube node add w3 --address 10.0.0.13', 'write it into cluster.yml, and bring it into the cluster'],
    ['hyperkube node add cp4 --address 10.0.0.4 --role control-plane', 'the same of a control plane'],
    ['hyperkube node remove w1 --dry-run', 'say what would be done for it to leave'],
    ['hyperkube node remove w1', 'let it leave, also when it is lost; and take it out of cluster.yml'],
    ['hyperkube node replace cp1 --by cp4 --address 10.0.0.4', 'let another machine take its place'],
    ['hyperkube node drain w1', 'show what runs there, ask, and move it away as its budgets allow'],
    ['hyperkube node drain w1 --yes --deadline 30m', 'without the question, and with a longer deadline'],
    ['hyperkube node drain w1 --force', 'with pods that have no controller'],
    ['hyperkube node uncordon w1', 'let pods come back'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'what to do').choices([...actions.keys()]))
      .addArgument(new Argument('<name>', 'of the host, as in cluster.yml, or of the node'))
      .option('--address <address>', 'add, replace: where ssh finds the new host')
      .option('--role <role>', 'add: a role of it; once for each; default: worker', addRole)
      .option('--by <name>', 'replace: the name of the new host')
      .option(
        '--deadline <duration>',
        `how long pods may take to go: 90s, 1h30m; default: ${formatDuration(drainTimeoutMs)}`,
        parseTimeoutFlag,
      )
      .option('--force', 'drain: also pods without a controller; uncordon: also what others have cordoned')
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
