import { z } from 'zod'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { findingsText } from '../print.ts'
import { readPlan } from '../plan/read-plan.ts'
import { addRunFlags } from '../run-flags.ts'
import { slotFlag, trialFlag, usualSlot } from '../provisional/flags.ts'
import { runUp } from '../up/run-up.ts'
import { addUpFlags } from '../up/up-flags.ts'

const flags = z.looseObject({
  plan: z.string().optional(),
  trial: z.number().optional(),
  trialSlot: z.number().default(usualSlot),
})

export const up: CommandDefinition = {
  examples: [
    ['hyperkube up', 'show what will happen, ask, and make the hosts a cluster'],
    ['hyperkube up --yes', 'the same without the question; again after an interruption it goes on'],
    ['hyperkube up --plan shop.plan', 'what hyperkube plan --out shop.plan has written, and nothing else'],
    ['hyperkube up --trial 10m', 'hosts go back by themselves, unless it is kept within ten minutes'],
    ['hyperkube up --ignore HOST_SWAP', 'though a finding says no'],
    ['hyperkube up --yes --progress json -o json', 'for programs: events on stderr, the result on stdout'],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    addUpFlags(addRunFlags(command))
      .option('--plan <file>', 'do what plan --out wrote, without a question and nothing beyond it')
      .option('--trial <duration>', 'go back by itself after so long, unless it is kept: 10m, 1h', trialFlag)
      .option('--trial-slot <duration>', 'hosts go back so long after each other; default: 2m', slotFlag)
  },
  async run(context, { options }) {
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(findingsText(findings))
      return exitCodes.failure
    }
    const { plan: file, trial: time, trialSlot: slot } = flags.parse(options)
    const plan = file === undefined ? undefined : { file, document: await readPlan(context, file) }
    const trial = time === undefined ? undefined : { time, slot }
    return runUp(context, options, { command: 'up', cluster, findings, plan, trial })
  },
}
