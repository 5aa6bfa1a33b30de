import { z } from 'zod'
import { planFromFacts, planFromHosts, type PlanOutcome } from '../../actions/plan.ts'
import { hasErrors } from '../../contract/finding.ts'
import { buildPlanDocument, indexPlansByHost } from '../../lifecycle/proposal/plan-approval.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import {
  type CommandContext,
  type LeafCommand,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { addRunFlags, runFlags } from '../command/run-flags.ts'
import { renderPlanPage } from '../html/plan-page.ts'
import { readFacts } from '../plan/facts-directory.ts'
import { readPlan } from '../plan/read-plan.ts'
import { exitCodeByStatus, runAction } from '../run/run-action.ts'
import { offerLock } from '../up/offer-lock.ts'
import { formatInherited } from '../text/inherited-text.ts'
import { formatProposal } from '../text/proposal-text.ts'

const flags = runFlags.extend({
  facts: z.string().optional(),
  against: z.string().optional(),
  out: z.string().optional(),
  diff: z.boolean().default(false),
  wide: z.boolean().default(false),
})

interface PlanResult {
  readonly code: ExitCode
  /** Undefined if the hosts could not be read. */
  readonly outcome: PlanOutcome | undefined
}

export const planCommand: LeafCommand = {
  examples: [
    ['hyperkube plan', 'preview the changes of up; install only hyperkube itself on new hosts'],
    ['hyperkube plan --wide --limit cp1', 'list every change on one host'],
    ['hyperkube plan --diff -o html > plan.html', 'write a page for review, with folded file changes'],
    ['hyperkube plan --out shop.plan', 'save the plan for hyperkube up --plan shop.plan'],
    ['hyperkube plan --facts facts/', 'plan from recorded facts, without connecting to hosts'],
    [
      'hyperkube plan --facts facts/ --against shop.plan --diff',
      'show file changes compared with a previous plan',
    ],
  ],
  sharedFlags: ['file', 'key', 'limit', 'html-output'],
  configure(command) {
    addRunFlags(command)
      .option('--out <file>', 'save the plan to this file, for up --plan')
      .option('--wide', 'list every change; same as -o wide')
      .option('--diff', 'show changes inside files as line diffs')
      .option('--facts <directory>', 'read facts from HOST.json files here, without connecting to hosts')
      .option('--against <file>', 'with --facts: treat this previous plan as applied')
  },
  async run(context, { options }) {
    const { facts, against, out, diff, wide, ignore, forgetHostKey, progress } = flags.parse(options)
    if (against !== undefined && facts === undefined) {
      context.stderr.write(
        'USAGE: --against needs --facts; without --facts, hosts report their state themselves\n',
      )
      return exitCodes.usage
    }
    const { cluster, findings, inherited } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const hosts = new Set(limitHosts(cluster, options.limit).map(({ name }) => name))
    const previous = against === undefined ? new Map() : indexPlansByHost(await readPlan(context, against))
    await offerLock(context, options, cluster)
    const inputs = await loadClusterInputs(context, options, cluster, { beforeCommit: true })
    const planHosts = async (): Promise<PlanResult> => {
      const settings = {
        command: 'plan',
        cluster: cluster.metadata.name,
        progress,
      }
      const planOptions = {
        files: options,
        forgetHostKeys: forgetHostKey,
        ignore,
        limit: options.limit,
        fileContents: diff,
      }
      return runAction(context, options, settings, async (run) =>
        planFromHosts(context, inputs, planOptions, run),
      )
    }
    const planRecorded = async (directory: string): Promise<PlanResult> => {
      const recorded = await readFacts(context, directory)
      const outcome = planFromFacts(inputs, recorded, previous, { ignore, limit: options.limit })
      context.stderr.write(formatFindings(outcome.proposal.findings))
      return { code: exitCodeByStatus[outcome.status], outcome }
    }
    const { code, outcome } = facts === undefined ? await planHosts() : await planRecorded(facts)
    const proposal = outcome?.proposal
    if (proposal === undefined) return code
    const document = {
      ...buildPlanDocument(proposal, new Set([...hosts, ...proposal.hostsToRemove.map(({ host }) => host)])),
      ...(inherited.length === 0 ? {} : { inherited: [...inherited] }),
    }
    const text = { wide: wide || options.output === 'wide', diff, hosts, previousPlans: previous }
    printResult(context.stdout, options.output, document, () => {
      if (options.output === 'html') return renderPlanPage(cluster, proposal, text, context.now())
      if (hasErrors(proposal.findings)) return ''
      return `${formatProposal(cluster, proposal, text, context.paint)}${formatInherited(inherited, context.paint)}`
    })
    if (out !== undefined && !hasErrors(proposal.findings)) await savePlan(context, options, out, document)
    return code
  },
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
  stderr.write(`the plan is saved in ${out}\n  → hyperkube up --plan ${out}${fileFlag}\n`)
}
