import { hasErrors } from '../../contract/finding.ts'
import type { ReplacementPhase } from '../../identity/identity.ts'
import { type KeyName, recordPreviousKeyUnused } from '../../identity/replace-key.ts'
import { formatCount } from '../../kit/text.ts'
import { reportSingleStep } from '../../lifecycle/agents/event-stream.ts'
import { findRotationStep } from '../../lifecycle/key-rotation/wait-for-rotation.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { isTrue } from '../../spec/weakening/predicates.ts'
import type { ClusterFiles, WorkspaceContext } from '../../workspace/context.ts'
import { openIdentity, saveIdentity } from '../../workspace/load-identity.ts'
import { openApi, openEtcd } from '../../workspace/open-cluster.ts'
import type { ActionOutcome, ActionRun } from './action-run.ts'

export interface FinishPhaseOptions {
  readonly files: ClusterFiles
  readonly cluster: Cluster
  readonly forgetHostKeys: readonly string[]
  /** Codes of findings that do not stop the action. */
  readonly ignore: readonly string[]
  /** Whether workloads that still trust only the previous CA are restarted. */
  readonly restartPods: boolean
}

/** True if the cluster has work to do before a key can go to its next phase. */
export function hasRotationWork(key: KeyName, phase: ReplacementPhase): boolean {
  return findRotationStep(key, phase) !== undefined
}

/**
 * Does the work in the cluster that a key needs before its next phase. Reports problems that prevent the next
 * phase.
 */
export async function finishRotationPhase(
  context: WorkspaceContext,
  key: KeyName,
  phase: ReplacementPhase,
  { files, cluster, forgetHostKeys, ignore, restartPods }: FinishPhaseOptions,
  run: Pick<ActionRun, 'emit'>,
): Promise<ActionOutcome> {
  const rotationStep = findRotationStep(key, phase)
  if (rotationStep === undefined) return { status: 'ok', result: { outcome: 'unchanged' } }
  const { now, signal } = context
  const stored = await openIdentity(context, files, cluster.metadata.name)
  const identity = recordPreviousKeyUnused(stored, now())
  // Saves the time since which the previous key is unused, because later runs need it.
  if (identity !== stored) await saveIdentity(context, files, identity)
  await using openedApi = await openApi(context, files, cluster, forgetHostKeys)
  await using etcd = await openEtcd(context, files.file, cluster, identity)
  const startedAt = now().toISOString()
  const { args } = cluster.spec.components.apiServer
  const planned = { step: `${key}-${phase}`, title: rotationStep.title, hosts: [] }
  const findings = await reportSingleStep({ emit: run.emit, signal }, planned, async () =>
    rotationStep.run({
      identity,
      api: openedApi.api,
      etcd: etcd.client,
      restartPods,
      extendsTokens: isTrue(args['service-account-extend-token-expiration'] ?? null),
      progress: (writtenCount) =>
        run.emit({
          type: 'waiting',
          for: `all objects to be rewritten: ${formatCount(writtenCount, 'object')} so far`,
          since: startedAt,
        }),
      report: (reason, since) => run.emit({ type: 'waiting', for: reason, since }),
      now,
      signal,
    }),
  )
  const remaining = findings.filter((finding) => !ignore.includes(finding.code))
  for (const finding of remaining) run.emit({ type: 'finding', finding })
  // Remaining errors do not make the command fail, because the same command continues this phase later.
  return hasErrors(remaining)
    ? { status: 'changes-pending', result: { outcome: 'unchanged' } }
    : { status: 'ok', result: { outcome: 'done' } }
}
