import { z } from 'zod'
import { surroundings } from '../../lifecycle/surroundings.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadWish } from '../load-wish.ts'
import { findingsText, print } from '../print.ts'
import { readPlan } from '../plan/read-plan.ts'
import { reportedRun } from '../reported-run.ts'
import { addRunFlags, runFlags } from '../run-flags.ts'
import { bringUp } from '../up/bring-up.ts'
import { leash } from '../up/leash.ts'
import { reach } from '../up/reach.ts'
import { upDocument, upText } from '../up/result.ts'

const flags = runFlags.extend({
  forceUnlock: z.boolean().default(false),
  plan: z.string().optional(),
})

/** How long hosts may take to finish when the time of --timeout is over. */
const patience = 30_000

export const up: CommandDefinition = {
  examples: [
    ['hyperkube up', 'show what will happen, ask, and make the hosts a cluster'],
    ['hyperkube up --yes', 'the same without the question; again after an interruption it goes on'],
    ['hyperkube up --plan shop.plan', 'what hyperkube plan --out shop.plan has written, and nothing else'],
    ['hyperkube up --ignore HOST_SWAP', 'though a finding says no'],
    ['hyperkube up --yes --progress json -o json', 'for programs: events on stderr, the result on stdout'],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    addRunFlags(command)
      .option('--plan <file>', 'do what plan --out wrote, without a question and nothing beyond it')
      .option('--force-unlock', 'take the claim from somebody who holds it')
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(findingsText(findings))
      return exitCodes.failure
    }
    const { progress, ignore, forceUnlock, plan: file } = flags.parse(options)
    const plan = file === undefined ? undefined : { file, document: await readPlan(context, file) }
    const wish = await loadWish(context, options, cluster)
    const settings = {
      command: 'up',
      cluster: cluster.metadata.name,
      progress,
      debug: options.debug === true,
    }
    let [hosts, leftBehind]: [readonly string[], readonly string[]] = [[], []]

    const ended = await reportedRun(context, settings, async (run) => {
      for (const finding of findings) run.tell({ type: 'finding', finding })
      using way = leash(context.signal, patience)
      const reached = await reach(context, options, wish, run, way.signal)
      try {
        leftBehind = [...reached.crew.missing.keys()]
        const verdict = await bringUp({
          ...reached,
          context,
          options,
          flags: { ignore, forceUnlock, plan, mayAsk: progress !== 'json' },
          run,
          look: surroundings,
          begin: way.letGo,
          lasting: way.signal,
        })
        if (verdict.result.outcome === 'done') hosts = [...reached.crew.sessions.keys()]
        return verdict
      } finally {
        await reached.close()
      }
    })
    if (ended.code === exitCodes.usage) return ended.code
    const end = { ...ended, cluster: cluster.metadata.name, hosts, leftBehind }
    print(context.stdout, options.output, upDocument(end), () => upText(end))
    return ended.code
  },
}
