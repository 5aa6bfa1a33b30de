import { Argument } from 'commander'
import { z } from 'zod'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadWish } from '../load-inputs.ts'
import { findingsText, print } from '../print.ts'
import { outcomeNames, reportedRun } from '../run-with-progress.ts'
import { addRunFlags, runFlags } from '../run-flags.ts'
import { endTrialOf } from '../provisional/end-change.ts'
import { leash } from '../up/deferred-abort.ts'
import { reach } from '../up/connect.ts'
import { listed } from '../format-text.ts'

const actions = z.enum(['keep', 'back'])
const flags = runFlags.extend({ forceUnlock: z.boolean().default(false) })

export const trial: CommandDefinition = {
  examples: [
    [
      'hyperkube up --trial 10m',
      'bring a change to the hosts, which go back by themselves after ten minutes',
    ],
    ['hyperkube trial keep', 'the change is good: it stays'],
    ['hyperkube trial back', 'it is not: hosts go back now, one after the other'],
  ],
  identity: true,
  configure(command) {
    addRunFlags(
      command.addArgument(new Argument('<action>', 'what to do').choices([...actions.options])),
    ).option('--force-unlock', 'take the claim from somebody who holds it')
  },
  async run(context, { args, options }) {
    const action = actions.parse(args[0])
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const { progress, forceUnlock } = flags.parse(options)
    const wish = await loadWish(context, options, cluster)
    const { name } = cluster.metadata
    let hosts: readonly string[] = []
    const settings = { command: `trial ${action}`, cluster: name, progress, debug: options.debug === true }
    const { code } = await reportedRun(context, settings, async (run) => {
      using way = leash(context.signal)
      await using reached = await reach(context, options, wish, run, way.signal)
      const ended = await endTrialOf({ ...reached, context, run, action, forceUnlock, begin: way.letGo })
      hosts = ended.hosts
      return ended
    })
    const document = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'TrialResult',
      cluster: name,
      action,
      outcome: outcomeNames[code],
      hosts,
    }
    print(context.stdout, options.output, document, () => endText(action, hosts))
    return code
  },
}

function endText(action: z.infer<typeof actions>, hosts: readonly string[]): string {
  if (hosts.length === 0) return ''
  return action === 'keep'
    ? `it is kept on ${listed(hosts)}\n`
    : `${listed(hosts)} go back now, one after the other; hyperkube status says how far they are\n`
}
