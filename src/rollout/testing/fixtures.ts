import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { type Stage, stages } from '../../contract/stage.ts'
import { buildComponent, buildPlan } from '../../diff/testing/fixtures.ts'
import type { LiveHosts, RolloutInput } from '../input.ts'

export type FixtureRole = 'etcd' | 'control-plane' | 'worker'

/** Test fixture: a plan that holds only the roles of a host. */
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

/** Changes a file in each stage, and restarts its service if `disruptive`. */
export function buildChanges(disruptive: boolean, ...touched: readonly Stage[]): Op[] {
  return touched.flatMap((stage) => [
    buildFixtureOp(stage, 'change'),
    ...(disruptive && stage !== 'prepare' ? [buildFixtureOp(stage, 'restart')] : []),
  ])
}

export const noLiveHosts: LiveHosts = { etcd: [], controlPlanes: [], nodes: [] }

/** Three control planes, each with an etcd member, and workers. */
export function buildPlans(workers: number): NodePlan[] {
  return [
    ...['cp1', 'cp2', 'cp3'].map((name) => buildHostPlan(name, ['control-plane', 'etcd'])),
    ...Array.from({ length: workers }, (_, index) => buildHostPlan(`w${index + 1}`, ['worker'])),
  ]
}

/** Treats all hosts of these plans as live. */
export function toLiveHosts(plans: readonly NodePlan[]): LiveHosts {
  const listHosts = (stage: Stage): string[] =>
    plans.filter(({ components }) => components.some((one) => one.stage === stage)).map(({ host }) => host)
  return { etcd: listHosts('etcd'), controlPlanes: listHosts('api'), nodes: listHosts('node') }
}

/** Changes every stage of every host. */
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
