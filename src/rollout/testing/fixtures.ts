import { type ComponentPlan, type Stage, stages } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { buildComponent, buildPlan } from '../../diff/testing/fixtures.ts'
import type { LiveHosts, RolloutInput } from '../input.ts'

export type FixtureRole = 'etcd' | 'control-plane' | 'worker'

/** Builds a plan with one component per stage of the given roles. */
export function buildHostPlan(host: string, roles: readonly FixtureRole[], kubelet = '1.37.1'): NodePlan {
  const components = stages
    .filter((stage) => listRoleStages(roles).includes(stage))
    .map((stage): ComponentPlan =>
      stage === 'node'
        ? buildComponent({ name: 'kubelet', stage, version: kubelet })
        : buildComponent({ name: stage === 'network' ? 'flanneld' : stage, stage }),
    )
  const node = roles.some((role) => role !== 'etcd') ? { name: host, labels: {}, taints: [] } : undefined
  return { ...buildPlan(...components), host, roles: [...roles], ...(node === undefined ? {} : { node }) }
}

/** Lists the stages of hosts with these roles. */
export function listRoleStages(roles: readonly FixtureRole[]): readonly Stage[] {
  return [
    'prepare',
    ...(roles.includes('etcd') ? (['etcd'] as const) : []),
    ...(roles.includes('control-plane') ? (['api', 'controllers'] as const) : []),
    ...(roles.some((role) => role !== 'etcd') ? (['node', 'network'] as const) : []),
  ]
}

export function buildFixtureOp(stage: Stage, action: Op['action']): Op {
  const target = action === 'restart' || action === 'start' || action === 'stop' ? 'service' : 'file'
  return { component: stage, stage, action, target, name: `${stage}-thing`, because: [] }
}

/** Builds ops that change a file in each given stage and, if `disruptive`, restart the stage's service. */
export function buildChanges(disruptive: boolean, ...touched: readonly Stage[]): Op[] {
  return touched.flatMap((stage) => [
    buildFixtureOp(stage, 'change'),
    ...(disruptive && stage !== 'prepare' ? [buildFixtureOp(stage, 'restart')] : []),
  ])
}

export const noLiveHosts: LiveHosts = { etcd: [], controlPlanes: [], nodes: [] }

/** Builds the plans of three control planes, each with an etcd member, and of `workers` workers. */
export function buildPlans(workers: number): NodePlan[] {
  return [
    ...['cp1', 'cp2', 'cp3'].map((name) => buildHostPlan(name, ['control-plane', 'etcd'])),
    ...Array.from({ length: workers }, (_, index) => buildHostPlan(`w${index + 1}`, ['worker'])),
  ]
}

/** Lists the hosts of these plans as already part of the cluster. */
export function toLiveHosts(plans: readonly NodePlan[]): LiveHosts {
  const listHosts = (stage: Stage): string[] =>
    plans.filter(({ components }) => components.some((one) => one.stage === stage)).map(({ host }) => host)
  return { etcd: listHosts('etcd'), controlPlanes: listHosts('api'), nodes: listHosts('node') }
}

/** Builds changes for every stage of every host. */
export function changeEverywhere(plans: readonly NodePlan[], disruptive: boolean): Map<string, Op[]> {
  return new Map(
    plans.map(({ host, components }) => [
      host,
      buildChanges(disruptive, ...components.map(({ stage }) => stage)),
    ]),
  )
}

export function buildRolloutInput(
  options: Pick<RolloutInput, 'plans' | 'ops'> & Partial<RolloutInput>,
): RolloutInput {
  return {
    live: noLiveHosts,
    unreachable: [],
    desiredRoles: new Map(),
    removedHosts: [],
    maxUnavailable: '10%',
    currentKubelets: new Map(),
    ...options,
  }
}
