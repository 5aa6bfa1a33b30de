import { z } from 'zod'
import { type Foreseen, planDocument } from '../../lifecycle/plan-document.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { limitHosts } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadWish } from '../load-inputs.ts'
import { findingsText, print } from '../print.ts'
import { reportedRun } from '../run-with-progress.ts'
import { takeApart } from '../reset/reset-hosts.ts'
import { resetDocument, resetText } from '../reset/result.ts'
import { addRunFlags, runFlags } from '../run-flags.ts'
import { leash } from '../up/deferred-abort.ts'
import { reach } from '../up/connect.ts'

const flags = runFlags.extend({
  forceUnlock: z.boolean().default(false),
  dryRun: z.boolean().default(false),
})

export const reset: CommandDefinition = {
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
        'take the claim from somebody who holds it, and go on though most control planes are gone',
      )
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(findingsText(findings))
      return exitCodes.failure
    }
    const { progress, ignore, forceUnlock, dryRun } = flags.parse(options)
    const wish = await loadWish(context, options, cluster)
    const settings = {
      command: 'reset',
      cluster: cluster.metadata.name,
      progress,
      debug: options.debug === true,
    }
    const done: string[] = []
    let foreseen: Foreseen | undefined
    const ended = await reportedRun(context, settings, async (run) => {
      using way = leash(context.signal)
      await using reached = await reach(context, options, wish, run, way.signal)
      return await takeApart({
        ...reached,
        context,
        options,
        hosts: limitHosts(cluster, options.limit),
        flags: { ignore, forceUnlock, dryRun, mayAsk: progress !== 'json' },
        run,
        foreseen: (what) => (foreseen = what),
        begin: way.letGo,
        finished: (host) => void done.push(host),
      })
    })
    if (ended.code === exitCodes.usage) return ended.code
    const { storage } = cluster.spec
    const volumes = storage === 'none' ? undefined : storage.path
    const end = { cluster: cluster.metadata.name, hosts: done.toSorted(), code: ended.code, volumes }
    const document = foreseen === undefined ? resetDocument(end) : planDocument(foreseen)
    print(context.stdout, options.output, document, () => resetText(end))
    return ended.code
  },
}
