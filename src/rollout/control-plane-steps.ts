import { type RolloutHost, isDisrupted, hasStageChanges, listHostNames } from './host.ts'
import type { ClusterState } from './cluster-state.ts'
import { type Gate, type RolloutStep, buildApplyStep } from './step.ts'

/**
 * Builds the steps for API servers. New servers come first, in parallel: no client uses them yet, and they
 * serve while existing servers restart. Servers that restart together with etcd are left out.
 */
export function apiSteps(state: ClusterState): RolloutStep[] {
  const changedHosts = state.reachableHosts.filter(
    (host) => host.controlPlane && hasStageChanges(host, 'api') && !restartsApiWithEtcd(state, host),
  )
  return [
    ...buildParallelStep(changedHosts.filter(isNew), 'api', (hosts) => [{ kind: 'api-ready', hosts }]),
    ...buildSequentialSteps(changedHosts, 'api', (host) => buildApiGates(state, host)),
  ]
}

/**
 * Builds the gates of a step that restarts the API server of a host. All other API servers must be ready,
 * both existing and new servers.
 */
export function buildApiGates(
  { reachableHosts }: ClusterState,
  host: string,
): Pick<RolloutStep, 'before' | 'after'> {
  const others = reachableHosts.filter(
    ({ name, controlPlane, live, changedStages }) =>
      controlPlane && name !== host && (live.controlPlane || changedStages.has('api')),
  )
  return {
    before: others.length === 0 ? [] : [{ kind: 'api-ready', hosts: listHostNames(others) }],
    after: [{ kind: 'api-ready', hosts: [host] }],
  }
}

/**
 * True if etcd and the API server of a host restart in one step. The API server then stops first, so no
 * request waits for the member. If the rollout adds an API server, the steps stay separate. A new server
 * needs all etcd members first, and must be ready before an existing server restarts.
 */
export function restartsApiWithEtcd({ reachableHosts }: ClusterState, host: RolloutHost): boolean {
  const addsServer = reachableHosts.some(
    (one) => one.controlPlane && isNew(one) && hasStageChanges(one, 'api'),
  )
  return (
    host.live.member &&
    host.live.controlPlane &&
    isDisrupted(host, 'etcd') &&
    isDisrupted(host, 'api') &&
    !addsServer
  )
}

export function controllerSteps({ reachableHosts }: ClusterState): RolloutStep[] {
  const changedHosts = reachableHosts.filter(
    (host) => host.controlPlane && hasStageChanges(host, 'controllers'),
  )
  const ready = (host: string): Gate => ({ kind: 'controllers-ready', host })
  return [
    ...buildParallelStep(changedHosts.filter(isNew), 'controllers', (hosts) => hosts.map(ready)),
    ...buildSequentialSteps(changedHosts, 'controllers', (host) => ({ before: [], after: [ready(host)] })),
  ]
}

type ControlPlaneStage = 'api' | 'controllers'

function buildParallelStep(
  hosts: readonly RolloutHost[],
  stage: ControlPlaneStage,
  after: (hosts: readonly string[]) => readonly Gate[],
): RolloutStep[] {
  if (hosts.length === 0) return []
  const names = listHostNames(hosts)
  return [buildApplyStep({ hosts: names, stage, after: after(names) })]
}

function buildSequentialSteps(
  changedHosts: readonly RolloutHost[],
  stage: ControlPlaneStage,
  gates: (host: string) => Pick<RolloutStep, 'before' | 'after'>,
): RolloutStep[] {
  return changedHosts
    .filter((host) => !isNew(host))
    .map((host) => {
      const { before, after } = gates(host.name)
      const disruptive = isDisrupted(host, stage)
      return buildApplyStep({
        hosts: [host.name],
        stage,
        before: disruptive ? before : [],
        after,
        disruptive,
      })
    })
}

function isNew({ live }: RolloutHost): boolean {
  return !live.controlPlane
}
