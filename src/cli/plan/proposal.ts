import { catalogFor } from '../../catalog/catalog.ts'
import type { Lock } from '../../catalog/lock.ts'
import type { Facts } from '../../contract/facts.ts'
import { type Finding, hasErrors } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { diff } from '../../diff/diff.ts'
import { presentAfter } from '../../diff/items.ts'
import type { Identity } from '../../identity/identity.ts'
import { publicIdentity } from '../../identity/public.ts'
import { secretFiles } from '../../identity/secret-files.ts'
import { planCluster } from '../../plan/plan.ts'
import type { Live } from '../../rollout/input.ts'
import { rollout } from '../../rollout/rollout.ts'
import type { Step } from '../../rollout/step.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** What a proposal is made from. */
export interface Grounds {
  readonly cluster: Cluster
  readonly lock: Lock
  readonly identity: Identity
  readonly facts: ReadonlyMap<string, Facts>
  readonly attachments: ReadonlyMap<string, string>
  /** What is taken to be on the hosts now; those that are missing have nothing yet. */
  readonly former: ReadonlyMap<string, NodePlan>
  /** Of hyperkube itself. */
  readonly version: string
}

/** What would be done, on which hosts and in which order. */
export interface Proposal {
  readonly findings: readonly Finding[]
  readonly plans: readonly NodePlan[]
  readonly ops: ReadonlyMap<string, readonly Op[]>
  readonly steps: readonly Step[]
}

export function propose(grounds: Grounds): Proposal {
  const { cluster, lock, identity, facts, attachments, former, version } = grounds
  const logins = cluster.spec.registries.flatMap(({ host, username, password }) =>
    password === undefined ? [] : [{ host, username: username ?? '', password: password.secret }],
  )
  const planned = planCluster({
    cluster,
    release: catalogFor(cluster.spec.kubernetes),
    lock,
    identity: publicIdentity(identity, secretFiles(identity, logins)),
    facts,
    attachments,
    version,
  })
  if (hasErrors(planned.findings)) return { findings: planned.findings, plans: [], ops: new Map(), steps: [] }
  const { plans } = planned
  const ops = new Map(plans.map((plan) => [plan.host, diff(plan, presentOf(former.get(plan.host)))]))
  const rolled = rollout({
    plans,
    ops,
    live: liveOf(former),
    unreachable: cluster.spec.hosts.map(({ name }) => name).filter((name) => !facts.has(name)),
    maxUnavailable: cluster.spec.rollout.maxUnavailable,
    kubeletBefore: kubeletsOf(former),
  })
  return { findings: [...planned.findings, ...rolled.findings], plans, ops, steps: rolled.steps }
}

function presentOf(former: NodePlan | undefined): ReturnType<typeof presentAfter> {
  return former === undefined ? [] : presentAfter(former)
}

function liveOf(former: ReadonlyMap<string, NodePlan>): Live {
  const withComponent = (name: string): string[] =>
    [...former.values()]
      .filter(({ components }) => components.some((component) => component.name === name))
      .map(({ host }) => host)
  return {
    etcd: withComponent('etcd'),
    controlPlanes: withComponent('kube-apiserver'),
    nodes: withComponent('kubelet'),
  }
}

function kubeletsOf(former: ReadonlyMap<string, NodePlan>): ReadonlyMap<string, string> {
  return new Map(
    [...former.values()].flatMap(({ host, components }) => {
      const version = components.find(({ name }) => name === 'kubelet')?.version
      return version === undefined ? [] : [[host, version] as const]
    }),
  )
}
