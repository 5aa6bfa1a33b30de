import { compareStages, type Stage } from '../contract/component-plan.ts'
import { type Finding, hasErrors } from '../contract/finding.ts'
import { buildClusterState, type ClusterState } from './cluster-state.ts'
import { controlPlaneFindings } from './control-plane-findings.ts'
import { apiSteps, controllerSteps } from './control-plane-steps.ts'
import { etcdFindings } from './etcd-findings.ts'
import { etcdSteps } from './etcd-steps.ts'
import { hasStageChanges, listHostNames, takesPartInStage } from './host.ts'
import type { RolloutInput } from './input.ts'
import { nodeSteps, workerFindings } from './node-steps.ts'
import { buildRemovalSteps, buildUnreachableRemovalSteps, removalFindings } from './removal.ts'
import { type ApplyStep, buildApplyStep, isBeforeApi, type RolloutStep } from './step.ts'

export interface SkippedHost {
  readonly host: string
  readonly reason: string
}

export interface RolloutPlan {
  /** Steps in order of execution. Empty if a finding is an error. */
  readonly steps: readonly RolloutStep[]
  readonly skipped: readonly SkippedHost[]
  readonly findings: readonly Finding[]
}

/**
 * Orders the changes across hosts. Only hosts with ops take part. The order of hosts in the input does not
 * change the result.
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
    // With an error nothing runs, so warnings and skipped hosts are irrelevant.
    return { steps: [], skipped: [], findings: findings.filter(({ severity }) => severity === 'error') }
  }
  const skipped = state.hosts
    .filter(({ reachable }) => !reachable)
    .map(({ name }) => ({ host: name, reason: 'unreachable' }))
  return { steps: buildSteps(state), skipped, findings }
}

/**
 * Builds the steps in order. All API servers come before any kubelet, because a kubelet must not be newer
 * than its API server.
 */
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
 * Builds the step for the stage `prepare`. This stage restarts no service of the cluster, so all hosts run it
 * in parallel.
 */
function buildPreparation({ reachableHosts }: ClusterState): RolloutStep[] {
  const hosts = listHostNames(reachableHosts.filter((host) => hasStageChanges(host, 'prepare')))
  return hosts.length === 0 ? [] : [buildApplyStep({ hosts, stage: 'prepare' })]
}

/**
 * Builds steps for hosts that do not have the role of a stage and only delete old components in this stage.
 * No peer relies on these components, so all such hosts share one step.
 */
function buildLeftoverSteps({ reachableHosts }: ClusterState, ...stages: readonly Stage[]): RolloutStep[] {
  return stages.flatMap((stage) => {
    const hosts = listHostNames(
      reachableHosts.filter((host) => hasStageChanges(host, stage) && !takesPartInStage(host, stage)),
    )
    return hosts.length === 0 ? [] : [{ ...buildApplyStep({ hosts, stage }), id: `${stage}/leftovers` }]
  })
}

/**
 * Merges two steps if nothing is disrupted and every host of the first step is also in the second. Between
 * the stages of a merged step, a host does not wait for other hosts and is observed only once.
 */
function mergeSteps(steps: readonly RolloutStep[]): RolloutStep[] {
  return steps.reduce<RolloutStep[]>((result, next) => {
    const last = result.at(-1)
    if (last?.kind !== 'apply' || next.kind !== 'apply' || !canMerge(last, next)) return [...result, next]
    return [...result.slice(0, -1), { ...next, ...mergePair(last, next) }]
  }, [])
}

function canMerge(first: ApplyStep, second: ApplyStep): boolean {
  const undisrupted = ![first, second].some(({ disruptive, drain }) => disruptive || drain)
  const hosts = new Set(second.hosts)
  return (
    undisrupted &&
    second.before.length === 0 &&
    first.hosts.every((host) => hosts.has(host)) &&
    compareStages(first.stage, second.stage) < 0 &&
    // Steps of stages up to and including `api` are not merged with steps of later stages, because hyperkube
    // applies its RBAC rules after `api`.
    isBeforeApi(first.stage) === isBeforeApi(second.stage) &&
    !first.after.some(({ kind }) => kind === 'etcd-member-promoted')
  )
}

function mergePair(first: ApplyStep, second: ApplyStep): Pick<ApplyStep, 'stages' | 'before' | 'after'> {
  return {
    stages: [...first.stages, ...second.stages],
    before: first.before,
    after: [...first.after, ...second.after],
  }
}
