import { HyperkubeError } from '../../../kit/errors.ts'
import { joinNames } from '../../../kit/text.ts'
import { listClusterEndpoints } from '../../../lifecycle/inputs/host-endpoints.ts'
import { buildSnapshotName } from '../../../snapshot/store.ts'
import { exitCodes } from '../../command/command.ts'
import { choosePrompts } from '../../command/prompts.ts'
import { formatTable } from '../../command/table.ts'
import { createTemporaryDirectory } from '../../environment/temporary-directory.ts'
import type { EtcdCommandAction, EtcdInvocation } from '../action.ts'
import { restoreFrom } from '../restore/restore.ts'
import { saveMemberSnapshot } from '../save.ts'
import { findSnapshotSource } from '../verify.ts'
import {
  buildCandidateColumns,
  findSnapshotLocation,
  pickBest,
  rankCandidates,
  type RecoveryCandidate,
} from './candidate.ts'
import { findSnapshotCandidates, findSurvivingMembers } from './find-candidates.ts'

/**
 * Recovers a cluster that has lost most of its etcd members for good. Shows the remaining members and
 * snapshots, and the changes that would be lost with each. If the operator chooses a member, its data is
 * first saved as a snapshot. Then the snapshot is restored.
 */
export const recoverEtcd: EtcdCommandAction = async (invocation) => {
  const { context, options, flags, cluster } = invocation
  const { stderr, paintProgress } = context
  const survivors = await findSurvivingMembers(invocation)
  const stored = await findSnapshotCandidates(invocation)
  const candidates = rankCandidates([...survivors.candidates, ...stored.candidates])
  const best = pickBest(candidates, stored.storeErrors, flags.dryRun || options.yes !== true)
  if (best === undefined) throw buildNothingLeftError()
  stderr.write(formatTable(buildCandidateColumns(best.revision, context.now()), candidates, paintProgress))
  const members = listClusterEndpoints(cluster).filter(({ etcd }) => etcd)
  stderr.write(
    `the new etcd cluster will have the members of cluster.yml: ${joinNames(members.map(({ host }) => host))}\n`,
  )
  if (survivors.leftOut.length > 0) {
    stderr.write(`considered lost: ${joinNames(survivors.leftOut)}; keep these hosts off\n`)
  }
  // The warning about left-out members is ignored, because they were listed above.
  const restoreInvocation = {
    ...invocation,
    flags: { ...flags, ignore: [...flags.ignore, 'ETCD_RESTORE_LEFT_OUT'] },
  }
  if (flags.dryRun) return runDryRun(restoreInvocation, best)
  const chosen = await promptCandidate(invocation, candidates, best)
  if (chosen === undefined) {
    stderr.write('USAGE: there is no terminal to choose a recovery source on; nothing was changed\n')
    stderr.write(`  → to recover from ${best.name}, add --yes\n`)
    return exitCodes.usage
  }
  const name = chosen.kind === 'snapshot' ? chosen.name : await saveCandidate(invocation, chosen)
  return restoreFrom(
    restoreInvocation,
    await findSnapshotSource(withSnapshotLocation(invocation, chosen), name),
  )
}

/**
 * Shows what the restore would change. A member's data is saved as a temporary snapshot, which is deleted
 * afterwards.
 */
async function runDryRun(invocation: EtcdInvocation, best: RecoveryCandidate): ReturnType<EtcdCommandAction> {
  const { kind, name } = best
  if (kind === 'snapshot')
    return restoreFrom(invocation, await findSnapshotSource(withSnapshotLocation(invocation, best), name))
  await using work = await createTemporaryDirectory()
  const { path } = work
  const dryRunInvocation = { ...invocation, flags: { ...invocation.flags, to: path, from: path } }
  const { name: snapshotName } = await saveMemberSnapshot(
    dryRunInvocation,
    ...buildRecoveryName(invocation),
    name,
  )
  return await restoreFrom(dryRunInvocation, await findSnapshotSource(dryRunInvocation, snapshotName))
}

/** Returns the invocation with `--from` set to the location of the candidate's snapshot. */
function withSnapshotLocation(invocation: EtcdInvocation, chosen: RecoveryCandidate): EtcdInvocation {
  return {
    ...invocation,
    flags: { ...invocation.flags, from: findSnapshotLocation(chosen, invocation.flags) },
  }
}

/** Saves all data of a member as a snapshot before anything is changed on its host. */
async function saveCandidate(
  invocation: EtcdInvocation,
  { name: member }: RecoveryCandidate,
): Promise<string> {
  const { name, locations } = await saveMemberSnapshot(invocation, ...buildRecoveryName(invocation), member)
  invocation.context.stderr.write(`saved all data of ${member} as ${name} in ${joinNames(locations)}\n`)
  return name
}

function buildRecoveryName({ context, cluster }: EtcdInvocation): readonly [string, Date] {
  const now = context.now()
  return [`recovered-${buildSnapshotName(cluster.metadata.name, now)}`, now]
}

async function promptCandidate(
  { context, options }: EtcdInvocation,
  candidates: readonly RecoveryCandidate[],
  best: RecoveryCandidate,
): Promise<RecoveryCandidate | undefined> {
  if (options.yes === true) return best
  const prompts = choosePrompts(context, options)
  if (prompts === undefined) return undefined
  const chosen = await prompts.select({
    message: 'source to recover from',
    choices: candidates.map(({ name }) => ({
      value: name,
      label: name === best.name ? `${name} (most recent)` : name,
    })),
    fallback: best.name,
  })
  return candidates.find(({ name }) => name === chosen) ?? best
}

function buildNothingLeftError(): HyperkubeError {
  return new HyperkubeError(
    'ETCD_RECOVER_NOTHING',
    'no etcd member responds, and the stores of spec.etcd.backup have no snapshot',
    { hint: 'restore a snapshot file: hyperkube etcd snapshot restore FILE' },
  )
}
