import { type RolloutHost, isDisrupted, hasStageChanges, listHostNames } from './host.ts'
import type { ClusterState } from './cluster-state.ts'
import { type Gate, type RolloutStep, buildApplyStep } from './step.ts'

/**
 * Builds the steps for API servers. New servers come first, in parallel: no client uses them yet, and they
 * serve while existing servers restart.
 */
export function apiSteps({ reachableHosts }: ClusterState): RolloutStep[] {
  const servers = reachableHosts.filter(({ controlPlane }) => controlPlane)
  const changedHosts = servers.filter((host) => hasStageChanges(host, 'api'))
  // During a restart, all other API servers must be ready, both existing and new servers.
  const serving = listHostNames(
    servers.filter((host) => host.live.controlPlane || hasStageChanges(host, 'api')),
  )
  return [
    ...buildParallelStep(changedHosts.filter(isNew), 'api', (hosts) => [{ kind: 'api-ready', hosts }]),
    ...buildSequentialSteps(changedHosts, 'api', (host) => {
      const others = serving.filter((name) => name !== host)
      return {
        before: others.length === 0 ? [] : [{ kind: 'api-ready', hosts: others }],
        after: [{ kind: 'api-ready', hosts: [host] }],
      }
    }),
  ]
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
