import { z } from 'zod'
import { hasErrors } from '../../contract/finding.ts'
import type { Wish } from '../../lifecycle/build-proposal.ts'
import { type CommandDefinition, type Context, exitCodes, type Invocation } from '../command.ts'
import { limitHosts } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadWish } from '../load-inputs.ts'
import { planDocument, plansByHost } from '../../lifecycle/plan-document.ts'
import { readPlan } from '../plan/read-plan.ts'
import { readFacts } from '../plan/facts-directory.ts'
import { type Looked, lookLive } from '../plan/live-plan.ts'
import { type Former, propose } from '../plan/offline-proposal.ts'
import { proposalText } from '../plan/proposal-text.ts'
import { findingsText, print } from '../print.ts'
import { addRunFlags, runFlags } from '../run-flags.ts'

const flags = runFlags.extend({
  facts: z.string().optional(),
  against: z.string().optional(),
  out: z.string().optional(),
  diff: z.boolean().default(false),
  wide: z.boolean().default(false),
})

export const plan: CommandDefinition = {
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
      .option('--against <file>', 'with --facts: a former plan that is taken to be there')
  },
  async run(context, { options }) {
    const { facts, against, out, diff, wide, ...live } = flags.parse(options)
    if (against !== undefined && facts === undefined) {
      context.stderr.write(
        'USAGE: --against goes with --facts: hosts that are asked say themselves what they have\n',
      )
      return exitCodes.usage
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const hosts = new Set(limitHosts(cluster, options.limit).map(({ name }) => name))
    const former = against === undefined ? new Map() : plansByHost(await readPlan(context, against))
    const wish = await loadWish(context, options, cluster)
    const { code, proposal } =
      facts === undefined
        ? await lookLive(context, options, wish, { ...live, diff })
        : await lookBack(context, wish, facts, former, {
            ignored: live.ignore,
            limited: options.limit !== undefined,
          })
    if (proposal === undefined) return code
    const document = planDocument(proposal, new Set([...hosts, ...proposal.leavers.map(({ host }) => host)]))
    const text = { wide: wide || options.output === 'wide', diff, hosts, former }
    print(context.stdout, options.output, document, () =>
      hasErrors(proposal.findings) ? '' : proposalText(cluster, proposal, text, context.paint),
    )
    if (out !== undefined && !hasErrors(proposal.findings)) await keep(context, options, out, document)
    return code
  },
}

/** Judges by what was recorded. */
async function lookBack(
  context: Context,
  wish: Wish,
  directory: string,
  former: Former,
  options: { readonly ignored: readonly string[]; readonly limited: boolean },
): Promise<Looked> {
  const proposal = propose(wish, await readFacts(context, directory), former, options)
  const { findings, steps } = proposal
  context.stderr.write(findingsText(findings))
  const pending = steps.length > 0 ? exitCodes.changesPending : exitCodes.ok
  return { proposal, code: hasErrors(findings) ? exitCodes.failure : pending }
}

/** A plan says much about the hosts, and is nobody else's business. */
async function keep(
  { replaceFile, stderr }: Context,
  { file }: Invocation['options'],
  out: string,
  document: object,
): Promise<void> {
  await replaceFile(out, `${JSON.stringify(document, undefined, 2)}\n`, 0o600)
  const from = file === 'cluster.yml' ? '' : ` -f ${file}`
  stderr.write(`written to ${out}; to do it: hyperkube up --plan ${out}${from}\n`)
}
