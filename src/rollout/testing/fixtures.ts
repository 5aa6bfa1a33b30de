import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { type Stage, stages } from '../../contract/stage.ts'
import { componentOf, planOf } from '../../diff/testing/fixtures.ts'
import type { Live, RolloutInput } from '../input.ts'

export type Role = 'etcd' | 'control-plane' | 'worker'

/** For tests: a plan with nothing in it but what a host is. */
export function hostPlan(host: string, roles: readonly Role[], kubelet = '1.37.1'): NodePlan {
  const components = stages
    .filter((stage) => stagesOf(roles).includes(stage))
    .map((stage): ComponentPlan =>
      stage === 'node'
        ? componentOf({ name: 'kubelet', stage, version: kubelet })
        : componentOf({ name: stage === 'network' ? 'flanneld' : stage, stage }),
    )
  const node = roles.some((role) => role !== 'etcd') ? { name: host, labels: {}, taints: [] } : undefined
  return { ...planOf(...components), host, roles: [...roles], ...(node === undefined ? {} : { node }) }
}

/** The stages that hosts of some roles have. */
export function stagesOf(roles: readonly Role[]): readonly Stage[] {
  return [
    'prepare',
    ...(roles.includes('etcd') ? (['etcd'] as const) : []),
    ...(roles.includes('control-plane') ? (['api', 'controllers'] as const) : []),
    ...(roles.some((role) => role !== 'etcd') ? (['node', 'network'] as const) : []),
  ]
}

export function opOf(stage: Stage, action: Op['action']): Op {
  const target = action === 'restart' || action === 'start' || action === 'stop' ? 'service' : 'file'
  return { component: stage, stage, action, target, name: `${stage}-thing`, because: [] }
}

/** A file changes, and perhaps a service restarts for it, in each of these stages. */
export function changes(loud: boolean, ...touched: readonly Stage[]): Op[] {
  return touched.flatMap((stage) => [
    opOf(stage, 'change'),
    ...(loud && stage !== 'prepare' ? [opOf(stage, 'restart')] : []),
  ])
}

export const nothing: Live = { etcd: [], controlPlanes: [], nodes: [] }

/** Three hosts of the control plane, each with a member of etcd, and workers. */
export function planned(workers: number): NodePlan[] {
  return [
    ...['cp1', 'cp2', 'cp3'].map((name) => hostPlan(name, ['control-plane', 'etcd'])),
    ...Array.from({ length: workers }, (_, index) => hostPlan(`w${index + 1}`, ['worker'])),
  ]
}

/** All of some plans are live. */
export function liveOf(plans: readonly NodePlan[]): Live {
  const having = (stage: Stage): string[] =>
    plans.filter(({ components }) => components.some((one) => one.stage === stage)).map(({ host }) => host)
  return { etcd: having('etcd'), controlPlanes: having('api'), nodes: having('node') }
}

/** In each stage that a host has, something is to do. */
export function everywhere(plans: readonly NodePlan[], loud: boolean): Map<string, Op[]> {
  return new Map(
    plans.map(({ host, components }) => [host, changes(loud, ...components.map(({ stage }) => stage))]),
  )
}

export function inputOf(wish: Pick<RolloutInput, 'plans' | 'ops'> & Partial<RolloutInput>): RolloutInput {
  return {
    live: nothing,
    unreachable: [],
    wished: new Map(),
    leaving: [],
    maxUnavailable: '10%',
    kubeletBefore: new Map(),
    ...wish,
  }
}
