import { Argument } from 'commander'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { openRemotes } from '../../workspace/ssh-connector.ts'
import { type CommandDefinition, exitCodes } from '../command/command.ts'
import { type HealCommand, healFlags, parsePauseFlag } from '../heal/heal-command.ts'
import { showHealStatus } from '../heal/heal-status.ts'
import { pauseHealing, resumeHealing } from '../heal/pause.ts'
import { formatFindings } from '../command/print.ts'

const actions: ReadonlyMap<string, HealCommand> = new Map([
  ['status', showHealStatus],
  ['pause', pauseHealing],
  ['resume', resumeHealing],
])

export const healCommand: CommandDefinition = {
  examples: [
    ['hyperkube heal status', 'show healing, pauses with their author and end, and recent actions'],
    ['hyperkube heal pause w1 --for 1h', 'pause healing on w1 for one hour of maintenance'],
    ['hyperkube heal pause --all --for 30m', 'pause healing on all hosts, after a prompt'],
    ['hyperkube heal pause w1 --dry-run', 'show what would change'],
    ['hyperkube heal resume w1', 'resume healing on w1'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'action to run').choices([...actions.keys()]))
      .addArgument(new Argument('[host...]', 'host names (default for status: all)'))
      .option(
        '--for <duration>',
        'pause: resume automatically after this duration, at most 24h (default: 1h)',
        parsePauseFlag,
      )
      .option('--all', 'pause, resume: apply to all hosts')
      .option('--dry-run', 'pause, resume: show what would change, without changing anything; exit code 3')
  },
  async run(context, { args, options }) {
    const [action = '', ...names] = args
    const flags = healFlags.parse(options)
    if (action !== 'status' && (names.length === 0) !== flags.all) {
      context.stderr.write(`USAGE: on which hosts? hyperkube heal ${action} HOST..., or --all\n`)
      return exitCodes.usage
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const hosts = limitHosts(cluster, names.length === 0 ? undefined : names)
    const identity = await openIdentity(context, options, cluster.metadata.name)
    await using remotes = await openRemotes(context, options.file, cluster, identity, hosts)
    const invocation = {
      context,
      options,
      flags,
      cluster: cluster.metadata.name,
      hosts: hosts.map(({ name }) => name),
      connect: remotes.findRemote,
    }
    return (await actions.get(action)?.(invocation)) ?? exitCodes.usage
  },
}
