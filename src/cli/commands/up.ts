import { z } from 'zod'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { formatFindings } from '../command/print.ts'
import { readPlan } from '../plan/read-plan.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { parseSlotFlag, parseProvisionalFlag, defaultSlotMs } from '../up/provisional-flags.ts'
import { offerLock } from '../up/offer-lock.ts'
import { runUp } from '../up/run-up.ts'
import { addUpFlags } from '../up/up-flags.ts'

const flags = z.looseObject({
  plan: z.string().optional(),
  provisional: z.number().optional(),
  rollbackInterval: z.number().default(defaultSlotMs),
})

export const upCommand: LeafCommand = {
  examples: [
    ['hyperkube up', 'show the plan, prompt, then create or update the cluster'],
    ['hyperkube up --yes', 'skip the prompt; run again to resume after an interruption'],
    ['hyperkube up --plan shop.plan', 'apply exactly the plan saved by hyperkube plan --out shop.plan'],
    ['hyperkube up --provisional 10m', 'roll back automatically unless confirmed within 10 minutes'],
    ['hyperkube up --ignore HOST_SWAP', 'continue despite the finding HOST_SWAP'],
    [
      'hyperkube up --yes --progress json -o json',
      'for scripts: print JSON events to stderr and the result to stdout',
    ],
  ],
  sharedFlags: ['file', 'key', 'limit', 'output', 'confirm'],
  configure(command) {
    addUpFlags(addRunFlags(command))
      .option('--plan <file>', 'apply exactly the plan saved by plan --out, without a prompt')
      .option(
        '--provisional <duration>',
        'roll back after this duration unless confirmed: 10m, 1h (1m to 24h)',
        parseProvisionalFlag,
      )
      .option(
        '--rollback-interval <duration>',
        'with --provisional: wait this long between rollbacks of two hosts (default: 2m)',
        parseSlotFlag,
      )
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    await offerLock(context, options, cluster)
    const { plan: file, provisional: durationMs, rollbackInterval: intervalMs } = flags.parse(options)
    const plan = file === undefined ? undefined : { file, document: await readPlan(context, file) }
    const provisional = durationMs === undefined ? undefined : { durationMs, rollbackIntervalMs: intervalMs }
    return runUp(context, options, {
      command: 'up',
      cluster,
      findings,
      plan,
      provisional,
      // Hosts would return to another plan by themselves, beside their return to the other tool.
      beforeCommit: provisional === undefined,
    })
  },
}
