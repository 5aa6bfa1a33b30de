import { Argument } from 'commander'
import { z } from 'zod'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadClusterInputs } from '../load-inputs.ts'
import { formatFindings, printResult } from '../print.ts'
import { resultNames, runWithProgress } from '../run-with-progress.ts'
import { addRunFlags, runFlags } from '../run-flags.ts'
import { endProvisionalChange } from '../provisional/end-change.ts'
import { createDeferredAbort } from '../up/deferred-abort.ts'
import { connectCluster } from '../up/connect.ts'
import { joinNames } from '../format-text.ts'

const actions = z.enum(['confirm', 'rollback'])
const flags = runFlags.extend({ forceUnlock: z.boolean().default(false) })

export const provisionalCommand: CommandDefinition = {
  examples: [
    [
      'hyperkube up --provisional 10m',
      'apply a change, which hosts roll back by themselves after ten minutes',
    ],
    ['hyperkube provisional confirm', 'keep the change'],
    ['hyperkube provisional rollback', 'roll back now, one host after the other'],
  ],
  identity: true,
  configure(command) {
    addRunFlags(
      command.addArgument(new Argument('<action>', 'what to do').choices([...actions.options])),
    ).option('--force-unlock', 'take the operator lock from its holder')
  },
  async run(context, { args, options }) {
    const action = actions.parse(args[0])
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const { progress, forceUnlock } = flags.parse(options)
    const inputs = await loadClusterInputs(context, options, cluster)
    const { name } = cluster.metadata
    let hosts: readonly string[] = []
    const settings = {
      command: `provisional ${action}`,
      cluster: name,
      progress,
      debug: options.debug === true,
    }
    const { code } = await runWithProgress(context, settings, async (run) => {
      using deferred = createDeferredAbort(context.signal)
      await using connected = await connectCluster(context, options, inputs, run, deferred.signal)
      const ended = await endProvisionalChange({
        ...connected,
        context,
        run,
        action,
        forceUnlock,
        deferAbort: deferred.defer,
      })
      hosts = ended.hosts
      return ended
    })
    const document = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'ProvisionalResult',
      cluster: name,
      action,
      outcome: resultNames[code],
      hosts,
    }
    printResult(context.stdout, options.output, document, () => formatResult(action, hosts))
    return code
  },
}

function formatResult(action: z.infer<typeof actions>, hosts: readonly string[]): string {
  if (hosts.length === 0) return ''
  return action === 'confirm'
    ? `the change is confirmed on ${joinNames(hosts)}\n`
    : `${joinNames(hosts)} roll back now, one after the other; hyperkube status shows their progress\n`
}
