import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import type { Live } from '../rollout/input.ts'
import type { Leaver } from './hosts-to-remove.ts'
import { isAt } from './etcd-membership.ts'
import type { Place } from './host-endpoints.ts'

/** A member of etcd as the members themselves know it. */
export interface KnownMember {
  /** Of its host; empty until it has started for the first time. */
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly learner: boolean
}

/** All that was seen of a cluster. */
export interface Seen {
  readonly plans: readonly NodePlan[]
  /** What is to be done, by name of host. */
  readonly ops: ReadonlyMap<string, readonly Op[]>
  /** Of all hosts, also of those that have no plan because they do not answer. */
  readonly places: readonly Place[]
  readonly members: readonly KnownMember[]
  /** Hosts whose etcd was given its data, and has never run with it. */
  readonly restored?: readonly string[]
  /** Names of nodes that the API knows; none when it does not answer. */
  readonly nodes: readonly string[]
  /** Hosts of the cluster that the file does not name any more. */
  readonly leavers: readonly Leaver[]
}

/**
 * Which hosts are part of the cluster already. Of etcd only its own members can say: one that was never started may be
 * one of them, and one that is there may have been taken out. Of the rest the services that hosts have say it; of a host
 * that does not answer, its node: a kubelet comes last, when everything else is there.
 */
export function liveOf({ plans, ops, places, members, restored = [], nodes, leavers }: Seen): Live {
  const planned = new Set(plans.map(({ host }) => host))
  const absent = places.filter(({ host }) => !planned.has(host))
  const known = new Set(nodes)
  const registered = absent.filter(({ node }) => node !== undefined && known.has(node))
  const having = (service: string): string[] =>
    namesOf(plans.filter((plan) => has(plan, ops.get(plan.host), service)))
  const voters = members.filter(({ learner }) => !learner)
  return {
    etcd: namesOf([...plans, ...absent, ...leavers].filter(({ address }) => voters.some(isAt(address)))),
    etcdThere: [...new Set([...having('etcd.service'), ...restored])],
    controlPlanes: [...having('kube-apiserver.service'), ...namesOf(registered.filter(({ api }) => api))],
    nodes: [...having('kubelet.service'), ...namesOf(registered)],
  }
}

function namesOf(hosts: readonly { readonly host: string }[]): string[] {
  return hosts.map(({ host }) => host)
}

/** It is in the plan, and was put there before. */
function has({ components }: NodePlan, ops: readonly Op[] | undefined, name: string): boolean {
  const planned = components.some(({ service }) => service?.name === name)
  const made =
    ops?.some((op) => op.target === 'service' && op.name === name && op.action === 'create') ?? true
  return planned && !made
}
