import { z } from 'zod'
import { hasErrors } from '../../contract/finding.ts'
import type { ClusterInputs } from '../../lifecycle/cluster-inputs.ts'
import { type CommandDefinition, type CommandContext, exitCodes, type Invocation } from '../command.ts'
import { limitHosts } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadClusterInputs } from '../load-inputs.ts'
import { buildPlanDocument, indexPlansByHost } from '../../lifecycle/plan-document.ts'
import { readPlan } from '../plan/read-plan.ts'
import { readFacts } from '../plan/facts-directory.ts'
import { type LivePlanResult, planFromHosts } from '../plan/live-plan.ts'
import { type PreviousPlans, proposeOffline } from '../plan/offline-proposal.ts'
import { formatProposal } from '../plan/proposal-text.ts'
import { formatFindings, printResult } from '../print.ts'
import { addRunFlags, runFlags } from '../run-flags.ts'

const flags = runFlags.extend({
  facts: z.string().optional(),
  against: z.string().optional(),
  out: z.string().optional(),
  diff: z.boolean().default(false),
  wide: z.boolean().default(false),
})

export const planCommand: CommandDefinition = {
  examples: [
    ['hyperkube plan', 'what up would do; a new host gets hyperkube itself to look with, and nothing else'],
    ['hyperkube plan --wide --limit cp1', 'each single thing, on one host'],
    ['hyperkube plan --out shop.plan', 'kept, to be done later by: hyperkube up --plan shop.plan'],
    ['hyperkube plan --facts facts/', 'on hosts whose facts were recorded, without asking any'],
    [
      'hyperkube plan --facts facts/ --against shop.plan --diff',
      'what a change in cluster.yml changes in files',
    ],
  ],
  identity: true,
  hosts: true,
  configure(command) {
    addRunFlags(command)
      .option('--out <file>', 'write the plan into a file, for up --plan')
      .option('--wide', 'each single thing; the same as -o wide')
      .option('--diff', 'what changes inside files, line by line')
      .option('--facts <directory>', 'ask no host: a file HOST.json has the facts of each')
      .option('--against <file>', 'with --facts: a previous plan that counts as applied')
  },
  async run(context, { options }) {
    const { facts, against, out, diff, wide, ...runOptions } = flags.parse(options)
    if (against !== undefined && facts === undefined) {
      context.stderr.write(
        'USAGE: --against goes with --facts: hosts that are asked say themselves what they have\n',
      )
      return exitCodes.usage
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const hosts = new Set(limitHosts(cluster, options.limit).map(({ name }) => name))
    const previous = against === undefined ? new Map() : indexPlansByHost(await readPlan(context, against))
    const inputs = await loadClusterInputs(context, options, cluster)
    const { code, proposal } =
      facts === undefined
        ? await planFromHosts(context, options, inputs, { ...runOptions, diff })
        : await planFromFacts(context, inputs, facts, previous, {
            ignored: runOptions.ignore,
            limited: options.limit !== undefined,
          })
    if (proposal === undefined) return code
    const document = buildPlanDocument(
      proposal,
      new Set([...hosts, ...proposal.hostsToRemove.map(({ host }) => host)]),
    )
    const text = { wide: wide || options.output === 'wide', diff, hosts, previousPlans: previous }
    printResult(context.stdout, options.output, document, () =>
      hasErrors(proposal.findings) ? '' : formatProposal(cluster, proposal, text, context.paint),
    )
    if (out !== undefined && !hasErrors(proposal.findings)) await savePlan(context, options, out, document)
    return code
  },
}

/** Builds a proposal from recorded facts and previous plans. */
async function planFromFacts(
  context: CommandContext,
  inputs: ClusterInputs,
  directory: string,
  previous: PreviousPlans,
  options: { readonly ignored: readonly string[]; readonly limited: boolean },
): Promise<LivePlanResult> {
  const proposal = proposeOffline(inputs, await readFacts(context, directory), previous, options)
  const { findings, steps } = proposal
  context.stderr.write(formatFindings(findings))
  const pending = steps.length > 0 ? exitCodes.changesPending : exitCodes.ok
  return { proposal, code: hasErrors(findings) ? exitCodes.failure : pending }
}

/** Saves a plan. It contains details of hosts, so only its owner may read it. */
async function savePlan(
  { replaceFile, stderr }: CommandContext,
  { file }: Invocation['options'],
  out: string,
  document: object,
): Promise<void> {
  await replaceFile(out, `${JSON.stringify(document, undefined, 2)}\n`, 0o600)
  const fileFlag = file === 'cluster.yml' ? '' : ` -f ${file}`
  stderr.write(`written to ${out}; to do it: hyperkube up --plan ${out}${fileFlag}\n`)
}
