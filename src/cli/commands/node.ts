import { Argument, InvalidArgumentError } from 'commander'
import { formatDuration } from '../../kit/time-format.ts'
import { drainTimeoutMs } from '../../lifecycle/drain/drain.ts'
import { hostRole } from '../../spec/host.ts'
import { buildClusterCommand } from '../command/cluster-command.ts'
import type { CommandGroup, LeafCommand, SharedFlag } from '../command/command.ts'
import { parseTimeoutFlag } from '../command/deadline.ts'
import { addRunFlags } from '../command/run-flags.ts'
import type { NodeAction } from '../node/action.ts'
import { addNode, removeNode, replaceNode } from '../node/change-hosts.ts'
import { runDrain, runUncordon } from '../node/drain.ts'
import { listNodes } from '../node/list.ts'
import { addUpFlags } from '../up/up-flags.ts'

function buildNodeCommand(action: NodeAction, definition: Omit<LeafCommand, 'run'>): LeafCommand {
  return buildClusterCommand(
    async ({ args: [name = ''], ...invocation }) => action({ ...invocation, name }),
    definition,
  )
}

const changeFlags: readonly SharedFlag[] = ['file', 'key', 'output', 'confirm']
const addressFlag = ['--address <address>', 'connect to the new host at this SSH address'] as const

export const nodeCommand: CommandGroup = {
  subcommands: [
    {
      name: 'list',
      summary: 'List hosts of cluster.yml and nodes of the API',
      definition: buildNodeCommand(listNodes, {
        examples: [
          ['hyperkube node list', 'list hosts with their roles, address, version and state'],
          ['hyperkube node list -o json', 'print JSON for scripts'],
        ],
        sharedFlags: ['file', 'key', 'output'],
        configure: () => undefined,
      }),
    },
    {
      name: 'add',
      summary: 'Add a host to cluster.yml and to the cluster',
      definition: buildNodeCommand(addNode, {
        examples: [
          ['hyperkube node add w3 --address 10.0.0.13', 'add a worker'],
          ['hyperkube node add cp4 --address 10.0.0.4 --role control-plane', 'add a control plane'],
        ],
        sharedFlags: changeFlags,
        configure: (command) =>
          addUpFlags(
            addRunFlags(
              command
                .addArgument(new Argument('<name>', 'name of the new host'))
                .requiredOption(...addressFlag)
                .option('--role <role>', 'assign this role (repeatable; default: worker)', addRole),
            ),
          ),
      }),
    },
    {
      name: 'remove',
      summary: 'Remove a host from the cluster and from cluster.yml',
      definition: buildNodeCommand(removeNode, {
        examples: [
          ['hyperkube node remove w1 --dry-run', 'show what would change'],
          ['hyperkube node remove w1', 'drain and remove w1, even if w1 is unreachable'],
          [
            'hyperkube node remove w1 --compromised --restart-pods',
            'remove w1 without connecting to it, then rotate every key that w1 has',
          ],
        ],
        sharedFlags: changeFlags,
        configure: (command) =>
          addUpFlags(
            addRunFlags(
              command
                .addArgument(new Argument('<host>', 'host name in cluster.yml'))
                .option('--compromised', 'treat the host as hostile and rotate the keys that it has')
                .option('--restart-pods', 'with --compromised: restart pods that do not trust the new CA'),
            ),
          ),
      }),
    },
    {
      name: 'replace',
      summary: 'Replace a host with a new host of the same roles',
      definition: buildNodeCommand(replaceNode, {
        examples: [['hyperkube node replace cp1 --by cp4 --address 10.0.0.4', 'replace cp1 with cp4']],
        sharedFlags: changeFlags,
        configure: (command) =>
          addUpFlags(
            addRunFlags(
              command
                .addArgument(new Argument('<host>', 'host name in cluster.yml'))
                .requiredOption('--by <name>', 'name of the new host')
                .requiredOption(...addressFlag),
            ),
          ),
      }),
    },
    {
      name: 'drain',
      summary: 'Evict the pods of a node within their PodDisruptionBudgets',
      definition: buildNodeCommand(runDrain, {
        examples: [
          ['hyperkube node drain w1', 'list pods, prompt, then evict them'],
          ['hyperkube node drain w1 --yes --deadline 30m', 'skip the prompt and allow 30 minutes'],
          ['hyperkube node drain w1 --force', 'also delete unmanaged pods'],
        ],
        sharedFlags: changeFlags,
        configure: (command) =>
          addUpFlags(
            addRunFlags(
              command
                .addArgument(new Argument('<host>', 'host name in cluster.yml, or node name'))
                .option(
                  '--deadline <duration>',
                  `abort after this duration: 90s, 1h30m (default: ${formatDuration(drainTimeoutMs)})`,
                  parseTimeoutFlag,
                )
                .option('--force', 'also delete unmanaged pods'),
              'refused',
            ),
          ),
      }),
    },
    {
      name: 'uncordon',
      summary: 'Allow new pods on a node again',
      definition: buildNodeCommand(runUncordon, {
        examples: [['hyperkube node uncordon w1', 'allow new pods on w1 again']],
        sharedFlags: changeFlags,
        configure: (command) =>
          addUpFlags(
            addRunFlags(
              command
                .addArgument(new Argument('<host>', 'host name in cluster.yml, or node name'))
                .option('--force', 'also undo cordons set by others'),
              'refused',
            ),
          ),
      }),
    },
  ],
}

function addRole(text: string, previous: readonly string[] = []): readonly string[] {
  const parsed = hostRole.safeParse(text)
  if (!parsed.success) throw new InvalidArgumentError(`expected one of ${hostRole.options.join(', ')}`)
  return [...new Set([...previous, parsed.data])]
}
