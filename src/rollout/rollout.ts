import { type Finding, hasErrors } from '../contract/finding.ts'
import { apiSteps, controllerSteps } from './control-plane-steps.ts'
import { controlPlaneFindings } from './control-plane-findings.ts'
import { etcdFindings } from './etcd-findings.ts'
import { etcdSteps } from './etcd-steps.ts'
import type { RolloutInput } from './input.ts'
import { removalFindings } from './removal-findings.ts'
import { buildRemovalSteps, buildUnreachableRemovalSteps } from './removal-steps.ts'
import { buildLeftoverSteps } from './leftovers.ts'
import { mergeSteps } from './merge.ts'
import { nodeSteps } from './node-steps.ts'
import { hasStageChanges, listHostNames } from './host.ts'
import { type ClusterState, buildClusterState } from './cluster-state.ts'
import { type RolloutStep, buildApplyStep } from './step.ts'
import { workerFindings } from './worker-findings.ts'

export interface SkippedHost {
  readonly host: string
  readonly reason: string
}

export interface RolloutPlan {
  /** In order of execution. Empty if there are errors. */
  readonly steps: readonly RolloutStep[]
  readonly skipped: readonly SkippedHost[]
  readonly findings: readonly Finding[]
}

/**
 * Orders the changes across hosts. Only hosts with ops take part. Equal input gives equal steps, in any order
 * of hosts.
 */
export function planRollout(input: RolloutInput): RolloutPlan {
  const state = buildClusterState(input)
  const findings = [
    ...etcdFindings(state),
    ...controlPlaneFindings(state),
    ...workerFindings(state),
    ...removalFindings(state),
  ]
  if (hasErrors(findings)) {
    // Nothing runs, so no host is skipped either.
    return { steps: [], skipped: [], findings: findings.filter(({ severity }) => severity === 'error') }
  }
  const skipped = state.hosts
    .filter(({ reachable }) => !reachable)
    .map(({ name }) => ({ host: name, reason: 'does not answer' }))
  return { steps: buildSteps(state), skipped, findings }
}

/** All API servers come before any kubelet: a kubelet must not be newer than its API server. */
function buildSteps(state: ClusterState): RolloutStep[] {
  return mergeSteps([
    ...buildUnreachableRemovalSteps(state),
    ...buildPreparation(state),
    ...etcdSteps(state),
    ...buildLeftoverSteps(state, 'etcd'),
    ...apiSteps(state),
    ...buildLeftoverSteps(state, 'api'),
    ...controllerSteps(state),
    ...buildLeftoverSteps(state, 'controllers'),
    ...nodeSteps(state),
    ...buildLeftoverSteps(state, 'node', 'network'),
    ...buildRemovalSteps(state),
  ])
}

/**
 * Preparation restarts nothing of the cluster, so all hosts run it in parallel, however long downloads take.
 */
function buildPreparation({ reachableHosts }: ClusterState): RolloutStep[] {
  const hosts = listHostNames(reachableHosts.filter((host) => hasStageChanges(host, 'prepare')))
  return hosts.length === 0 ? [] : [buildApplyStep({ hosts, stage: 'prepare' })]
}
