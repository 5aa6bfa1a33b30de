import { z } from 'zod'
import { type PlannedChanges, buildPlanDocument } from '../../lifecycle/plan-document.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { limitHosts } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadClusterInputs } from '../load-inputs.ts'
import { formatFindings, printResult } from '../print.ts'
import { runWithProgress } from '../run-with-progress.ts'
import { resetHosts } from '../reset/reset-hosts.ts'
import { buildResetDocument, formatResetResult } from '../reset/result.ts'
import { addRunFlags, runFlags } from '../run-flags.ts'
import { createDeferredAbort } from '../up/deferred-abort.ts'
import { connectCluster } from '../up/connect.ts'

const flags = runFlags.extend({
  forceUnlock: z.boolean().default(false),
  dryRun: z.boolean().default(false),
})

export const resetCommand: CommandDefinition = {
  examples: [
    ['hyperkube reset', 'ask, and take everything of the cluster off all of its hosts'],
    ['hyperkube reset --dry-run', 'show what would be removed'],
    ['hyperkube reset --limit w2', 'off one host, as if it had never been part of it'],
    ['hyperkube reset --yes', 'without the question'],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    addRunFlags(command)
      .option('--dry-run', 'show what would be removed, and do nothing; exit code 3')
      .option(
        '--force-unlock',
        'take the operator lock from its holder, and continue though most control planes are gone',
      )
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const { progress, ignore, forceUnlock, dryRun } = flags.parse(options)
    const inputs = await loadClusterInputs(context, options, cluster)
    const settings = {
      command: 'reset',
      cluster: cluster.metadata.name,
      progress,
      debug: options.debug === true,
    }
    const hostsReset: string[] = []
    let plannedChanges: PlannedChanges | undefined
    const ended = await runWithProgress(context, settings, async (run) => {
      using deferred = createDeferredAbort(context.signal)
      await using connected = await connectCluster(context, options, inputs, run, deferred.signal)
      return await resetHosts({
        ...connected,
        context,
        options,
        hosts: limitHosts(cluster, options.limit),
        flags: { ignore, forceUnlock, dryRun, canPrompt: progress !== 'json' },
        run,
        onPlanned: (changes) => (plannedChanges = changes),
        deferAbort: deferred.defer,
        onReset: (host) => void hostsReset.push(host),
      })
    })
    if (ended.code === exitCodes.usage) return ended.code
    const { storage } = cluster.spec
    const volumes = storage === 'none' ? undefined : storage.path
    const result = { cluster: cluster.metadata.name, hosts: hostsReset.toSorted(), code: ended.code, volumes }
    const document =
      plannedChanges === undefined ? buildResetDocument(result) : buildPlanDocument(plannedChanges)
    printResult(context.stdout, options.output, document, () => formatResetResult(result))
    return ended.code
  },
}
