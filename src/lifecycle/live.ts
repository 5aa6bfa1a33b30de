import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import type { Live } from '../rollout/input.ts'

/** A member of etcd as the members themselves know it. */
export interface KnownMember {
  readonly peerUrls: readonly string[]
  readonly learner: boolean
}

/**
 * Which hosts are part of the cluster already. Of etcd only its own members can say: one that was never started may be
 * one of them, and one that is there may have been taken out. Of the rest the services that hosts have say it.
 */
export function liveOf(
  plans: readonly NodePlan[],
  ops: ReadonlyMap<string, readonly Op[]>,
  members: readonly KnownMember[],
): Live {
  const having = (service: string): string[] =>
    plans.filter((plan) => has(plan, ops.get(plan.host), service)).map(({ host }) => host)
  const voting = new Set(members.filter(({ learner }) => !learner).flatMap(({ peerUrls }) => peerUrls))
  return {
    etcd: plans.filter(({ address }) => voting.has(`https://${address}:2380`)).map(({ host }) => host),
    etcdThere: having('etcd.service'),
    controlPlanes: having('kube-apiserver.service'),
    nodes: having('kubelet.service'),
  }
}

/** It is in the plan, and was put there before. */
function has({ components }: NodePlan, ops: readonly Op[] | undefined, name: string): boolean {
  const planned = components.some(({ service }) => service?.name === name)
  const made =
    ops?.some((op) => op.target === 'service' && op.name === name && op.action === 'create') ?? true
  return planned && !made
}
