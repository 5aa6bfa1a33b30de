import { Option } from 'commander'
import { z } from 'zod'
import { surroundings } from '../../lifecycle/surroundings.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadWish } from '../load-wish.ts'
import { findingsText, print } from '../print.ts'
import { progressKinds } from '../render/open-progress.ts'
import { reportedRun } from '../reported-run.ts'
import { bringUp } from '../up/bring-up.ts'
import { leash } from '../up/leash.ts'
import { reach } from '../up/reach.ts'
import { upDocument, upText } from '../up/result.ts'

const flags = z.object({
  forceUnlock: z.boolean().default(false),
  ignore: z.array(z.string()).default([]),
  progress: z.enum(progressKinds),
})

/** How long hosts may take to finish when the time of --timeout is over. */
const patience = 30_000

export const up: CommandDefinition = {
  examples: [
    ['hyperkube up', 'show what will happen, ask, and make the hosts a cluster'],
    ['hyperkube up --yes', 'the same without the question; again after an interruption it goes on'],
    ['hyperkube up --ignore HOST_SWAP', 'though a finding says no'],
    ['hyperkube up --yes --progress json -o json', 'for programs: events on stderr, the result on stdout'],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    command
      .option('--ignore <code>', 'go on in spite of a finding; once for each', addCode)
      .option('--force-unlock', 'take the claim from somebody who holds it')
      .addOption(
        new Option('--progress <kind>', 'how to show what happens; auto is a tree at a terminal, else lines')
          .choices(progressKinds)
          .default('auto'),
      )
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(findingsText(findings))
      return exitCodes.failure
    }
    const { progress, ignore, forceUnlock } = flags.parse(options)
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
          flags: { ignore, forceUnlock, mayAsk: progress !== 'json' },
          run,
          look: surroundings,
          begin: way.letGo,
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

function addCode(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',')]
}
