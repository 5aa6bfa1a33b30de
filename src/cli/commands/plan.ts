import { z } from 'zod'
import { hasErrors } from '../../contract/finding.ts'
import type { Proposal } from '../../lifecycle/survey.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { limitHosts } from '../limit.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadWish } from '../load-wish.ts'
import { readFacts } from '../plan/facts-directory.ts'
import { readFormerPlan } from '../plan/former-plan.ts'
import { propose } from '../plan/proposal.ts'
import { proposalText } from '../plan/text.ts'
import { findingsText, print } from '../print.ts'

const flags = z.object({
  facts: z.string(),
  against: z.string().optional(),
  diff: z.boolean().default(false),
  wide: z.boolean().default(false),
})

export const plan: CommandDefinition = {
  examples: [
    ['hyperkube plan --facts facts/', 'what would be done on hosts whose facts were recorded'],
    ['hyperkube plan --facts facts/ --wide --limit cp1', 'each single thing, on one host'],
    ['hyperkube plan --facts facts/ -o json > now.json', 'all of it, for a program or for later'],
    [
      'hyperkube plan --facts facts/ --against now.json --diff',
      'what a change in cluster.yml changes in files',
    ],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    command
      .requiredOption('--facts <directory>', 'a file HOST.json with the facts of each host')
      .option('--against <file>', 'a former plan, as -o json printed it, that is taken to be there')
      .option('--wide', 'each single thing; the same as -o wide')
      .option('--diff', 'what changes inside files, line by line')
  },
  async run(context, { options }) {
    const { facts, against, diff, wide } = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const hosts = new Set(limitHosts(cluster, options.limit).map(({ name }) => name))
    const former = against === undefined ? new Map() : await readFormerPlan(context, against)

    const wish = await loadWish(context, options, cluster)
    const proposal = propose(wish, await readFacts(context, facts), former)
    context.stderr.write(findingsText(proposal.findings))
    const failed = hasErrors(proposal.findings)
    const text = { wide: wide || options.output === 'wide', diff, hosts, former }
    print(context.stdout, options.output, document(proposal, hosts), () =>
      failed ? '' : proposalText(cluster, proposal, text, context.paint),
    )
    if (failed) return exitCodes.failure
    return proposal.steps.length > 0 ? exitCodes.changesPending : exitCodes.ok
  },
}

function document({ findings, plans, ops, steps }: Proposal, hosts: ReadonlySet<string>): object {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Plan',
    findings,
    steps,
    ops: Object.fromEntries([...ops].filter(([host]) => hosts.has(host))),
    plans: plans.filter(({ host }) => hosts.has(host)),
  }
}
