import { z } from 'zod'
import { type CommandDefinition, exitCodes } from '../command/command.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { formatFindings } from '../command/print.ts'
import { readPlan } from '../plan/read-plan.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { parseSlotFlag, parseProvisionalFlag, defaultSlotMs } from '../up/provisional-flags.ts'
import { runUp } from '../up/run-up.ts'
import { addUpFlags } from '../up/up-flags.ts'

const flags = z.looseObject({
  plan: z.string().optional(),
  provisional: z.number().optional(),
  rollbackInterval: z.number().default(defaultSlotMs),
})

export const upCommand: CommandDefinition = {
  examples: [
    ['hyperkube up', 'show what will happen, ask, and make the hosts a cluster'],
    ['hyperkube up --yes', 'the same without the question; again after an interruption it goes on'],
    ['hyperkube up --plan shop.plan', 'what hyperkube plan --out shop.plan has written, and nothing else'],
    ['hyperkube up --provisional 10m', 'hosts roll back, unless the change is confirmed within ten minutes'],
    ['hyperkube up --ignore HOST_SWAP', 'though a finding says no'],
    ['hyperkube up --yes --progress json -o json', 'for programs: events on stderr, the result on stdout'],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    addUpFlags(addRunFlags(command))
      .option('--plan <file>', 'do what plan --out wrote, without a question and nothing beyond it')
      .option(
        '--provisional <duration>',
        'roll back after this time, unless confirmed: 10m, 1h',
        parseProvisionalFlag,
      )
      .option(
        '--rollback-interval <duration>',
        'time between rollbacks of two hosts; default: 2m',
        parseSlotFlag,
      )
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    }
    const { plan: file, provisional: durationMs, rollbackInterval: intervalMs } = flags.parse(options)
    const plan = file === undefined ? undefined : { file, document: await readPlan(context, file) }
    const provisional = durationMs === undefined ? undefined : { durationMs, rollbackIntervalMs: intervalMs }
    return runUp(context, options, { command: 'up', cluster, findings, plan, provisional })
  },
}
