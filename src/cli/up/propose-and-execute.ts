import { hasErrors } from '../../contract/finding.ts'
import { deriveBundleKey } from '../../identity/bundle-key.ts'
import { forgetHostKey } from '../../identity/host-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { execute } from '../../lifecycle/execute.ts'
import {
  type PlannedProvisionalChange,
  planProvisionalChange,
} from '../../lifecycle/auto-rollback/plan-provisional.ts'
import { listPlannedEndpoints } from '../../lifecycle/host-endpoints.ts'
import { hasChanges, type Proposal } from '../../lifecycle/build-proposal.ts'
import type { ClusterInputs } from '../../lifecycle/cluster-inputs.ts'
import { openClusterBundle } from '../bundle/open-cluster-bundle.ts'
import { saveIdentity } from '../load-identity.ts'
import { type CommandContext, exitCodes } from '../command.ts'
import { findUnapprovedChanges } from '../../lifecycle/plan-approval.ts'
import { formatProposal } from '../plan/proposal-text.ts'
import type { CommandOutcome } from '../run-with-progress.ts'
import { settleProvisionalChange } from '../provisional/settle-change.ts'
import { formatProvisionalPlan, formatUnfinished } from '../provisional/text.ts'
import { joinNames } from '../format-text.ts'
import { confirmChanges } from './confirm.ts'
import { buildDesiredObjects } from './desired-objects.ts'
import { proposeChanges, createRemoteLookup, buildClientOptions } from './propose.ts'
import type { ClusterConnection } from './connect.ts'
import { buildRefusedResult } from './refused-result.ts'
import { withOperatorLock } from './operator-lock.ts'
import type { ApprovedPlan, UpDeps } from './up-deps.ts'
import type { UpRunResult } from './up-run-result.ts'

/** Computes the changes for the connected hosts, asks for confirmation, and applies them. */
export async function proposeAndExecute(deps: UpDeps): Promise<UpRunResult> {
  const { context, inputs, connected, flags, run } = deps
  const { print, emit } = run
  const proposal = await proposeChanges({
    ...deps,
    ignore: flags.ignore,
    allowProvisional: flags.provisional !== undefined,
  })
  deps.onPlanned?.(proposal)
  if (hasErrors(proposal.findings)) return buildRefusedResult(proposal.findings)
  const provisionalProposal =
    flags.provisional &&
    (await planProvisionalChange(
      flags.provisional,
      inputs,
      proposal,
      connected.sessions,
      connected.provisionalChanges,
    ))
  if (provisionalProposal !== undefined && provisionalProposal.findings.length > 0) {
    for (const finding of provisionalProposal.findings) emit({ type: 'finding', finding })
    return buildRefusedResult(provisionalProposal.findings)
  }
  const provisional =
    provisionalProposal?.provisional.hosts.size === 0 ? undefined : provisionalProposal?.provisional
  print(
    `${formatForPrompt(context, inputs, proposal)}${provisional === undefined ? '' : formatProvisionalPlan(provisional)}`,
  )
  if (flags.dryRun) {
    const code = hasChanges(proposal) ? exitCodes.changesPending : exitCodes.ok
    return { code, result: { outcome: 'unchanged' } }
  }
  if (!hasChanges(proposal) && provisional === undefined) {
    await deps.persist()
    return buildResult(connected, 'unchanged')
  }
  if (flags.plan !== undefined) requireApproved(flags.plan, proposal)
  // A plan file counts as confirmation.
  const confirmed = flags.plan !== undefined || (await confirmChanges(context, deps.options, flags.canPrompt))
  if (confirmed !== true) return { code: confirmed, result: { outcome: 'unchanged' } }
  await deps.persist()
  await executeProposal(deps, proposal, provisional)
  const result = buildResult(connected, 'done')
  return provisional === undefined ? result : settleProvisionalChange(deps, provisional, result)
}

/**
 * Throws if the proposal contains changes that the approved plan does not. Hosts and files may have changed
 * since.
 */
function requireApproved({ file, document }: ApprovedPlan, proposal: Proposal): void {
  const unapproved = findUnapprovedChanges(document, proposal)
  if (unapproved.length === 0) return
  const message = `more would be done now than ${file} says: ${joinNames(unapproved)}`
  throw new HyperkubeError('PLAN_OUTDATED', message, {
    hint: `read what would be done, and write it again: hyperkube plan --out ${file}`,
  })
}

async function executeProposal(
  deps: UpDeps,
  proposal: Proposal,
  provisional: PlannedProvisionalChange | undefined,
): Promise<void> {
  const { context, inputs, connected, removedHosts, flags, run, createClient, deferAbort } = deps
  const removed = new Set<string>()
  const { publicKey } = deriveBundleKey(inputs.identity)
  await using bundle = await openClusterBundle(context, deps.options.file, inputs.cluster, publicKey)
  // Interrupts are deferred before the lock is acquired, because a granted lock must be released.
  deferAbort()
  await withOperatorLock(
    { ...deps, forceUnlock: flags.forceUnlock },
    async ({ claim, forgetHost }, signal) => {
      const clientOptions = {
        ...buildClientOptions(inputs, context, createRemoteLookup(connected, removedHosts)),
        objects: buildDesiredObjects(inputs.cluster, proposal.plans),
        signal: deps.deferredSignal,
      }
      using client = await createClient(
        [...listPlannedEndpoints(proposal.plans), ...proposal.hostsToRemove],
        clientOptions,
      )
      const startedAt = context.now()
      await execute(inputs, proposal, connected.sessions, {
        claim,
        onRemoved(host) {
          forgetHost(host)
          removed.add(host)
        },
        removedSessions: removedHosts.sessions,
        reader: client,
        writer: client,
        bundle,
        provisional,
        emit: run.emit,
        now: context.now,
        signal,
      }).catch((error: unknown) => {
        if (provisional !== undefined) run.print(formatUnfinished(provisional, startedAt))
        throw error
      })
    },
  )
  if (removed.size > 0) await forgetHostKeys(deps, removed)
}

/** Deletes the ssh host keys of removed hosts, because another machine may get the name of a removed host. */
async function forgetHostKeys(
  { context, options, inputs }: UpDeps,
  hosts: ReadonlySet<string>,
): Promise<void> {
  await saveIdentity(context, options, [...hosts].reduce(forgetHostKey, inputs.identity))
}

/** Builds the result. With unreachable hosts, changes are still pending. */
function buildResult(
  { unreachable }: ClusterConnection['connected'],
  outcome: 'done' | 'unchanged',
): CommandOutcome {
  return { code: unreachable.size === 0 ? exitCodes.ok : exitCodes.changesPending, result: { outcome } }
}

function formatForPrompt(
  { paintProgress }: CommandContext,
  { cluster }: ClusterInputs,
  proposal: Proposal,
): string {
  const hosts = new Set(proposal.plans.map(({ host }) => host))
  const options = { wide: false, diff: false, hosts, previousPlans: new Map() }
  return formatProposal(cluster, proposal, options, paintProgress)
}
