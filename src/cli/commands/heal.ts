import { Argument, type Command } from 'commander'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { openRemotes } from '../../workspace/ssh-connector.ts'
import { type CommandGroup, exitCodes, type LeafCommand } from '../command/command.ts'
import { type HealCommand, healFlags, parsePauseFlag } from '../heal/heal-command.ts'
import { showHealStatus } from '../heal/heal-status.ts'
import { pauseHealing, resumeHealing } from '../heal/pause.ts'
import { formatFindings } from '../command/print.ts'

/**
 * Builds a subcommand from its action. A subcommand with the flag --all requires host names or --all. Other
 * subcommands act on all hosts by default.
 */
function buildHealCommand(action: HealCommand, definition: Omit<LeafCommand, 'run'>): LeafCommand {
  return {
    ...definition,
    async run(context, { args: names, options }) {
      const flags = healFlags.parse(options)
      if (flags.all !== undefined && (names.length === 0) !== flags.all) {
        context.stderr.write('USAGE: name hosts, or use --all for all hosts\n')
        context.stderr.write('  → hyperkube heal --help\n')
        return exitCodes.usage
      }
      const { cluster, findings } = await loadCluster(context, options.file)
      context.stderr.write(formatFindings(findings))
      if (cluster === undefined) return exitCodes.failure
      const hosts = limitHosts(cluster, names.length === 0 ? undefined : names)
      const identity = await openIdentity(context, options, cluster.metadata.name)
      await using remotes = await openRemotes(context, options.file, cluster, identity, hosts)
      return await action({
        context,
        options,
        flags,
        cluster: cluster.metadata.name,
        hosts: hosts.map(({ name }) => name),
        connect: remotes.findRemote,
      })
    },
  }
}

function addChangeFlags(command: Command): Command {
  return command
    .addArgument(new Argument('[host...]', 'hosts; required without --all'))
    .option('--all', 'apply to all hosts', false)
    .option('--dry-run', 'show what would change, without changing anything; exit code 3')
}

export const healCommand: CommandGroup = {
  subcommands: [
    {
      name: 'status',
      summary: 'Show healing, pauses with their author and end, and recent actions',
      definition: buildHealCommand(showHealStatus, {
        examples: [
          ['hyperkube heal status', 'show all hosts'],
          ['hyperkube heal status w1 -o json', 'print one host as JSON'],
        ],
        sharedFlags: ['file', 'key', 'output'],
        configure: (command) => command.addArgument(new Argument('[host...]', 'hosts (default: all)')),
      }),
    },
    {
      name: 'pause',
      summary: 'Pause healing, for maintenance by hand',
      definition: buildHealCommand(pauseHealing, {
        examples: [
          ['hyperkube heal pause w1 --dry-run', 'show what would change'],
          ['hyperkube heal pause w1 --for 1h', 'pause healing on w1 for one hour of maintenance'],
          ['hyperkube heal pause --all --for 30m', 'pause healing on all hosts, after a prompt'],
        ],
        sharedFlags: ['file', 'key', 'output', 'confirm'],
        configure: (command) =>
          addChangeFlags(command).option(
            '--for <duration>',
            'resume automatically after this duration, at most 24h (default: 1h)',
            parsePauseFlag,
          ),
      }),
    },
    {
      name: 'resume',
      summary: 'Resume healing that is paused or exhausted',
      definition: buildHealCommand(resumeHealing, {
        examples: [
          ['hyperkube heal resume w1', 'resume healing on w1'],
          ['hyperkube heal resume --all', 'resume healing on all hosts'],
        ],
        sharedFlags: ['file', 'key', 'output', 'confirm'],
        configure: addChangeFlags,
      }),
    },
  ],
}
