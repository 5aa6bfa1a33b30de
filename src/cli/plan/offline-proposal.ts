import type { AddonInput } from '../../addons/desired-addons.ts'
import type { Facts } from '../../contract/facts.ts'
import { hasErrors, unlessIgnored } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { diff } from '../../diff/diff.ts'
import { presentAfter } from '../../diff/plan-resources.ts'
import { addonsOf } from '../../lifecycle/addons/propose-addons.ts'
import { foreseeAddons, noAddons } from '../../lifecycle/addons/proposal.ts'
import { rolesIn } from '../../lifecycle/host-endpoints.ts'
import { nothing, ofRollout, planFrom, type Proposal, type Wish } from '../../lifecycle/build-proposal.ts'
import { rolesOf } from '../../rollout/host.ts'
import type { Leaving, Live } from '../../rollout/input.ts'
import { rollout } from '../../rollout/rollout.ts'

/** What is taken to be on the hosts now; those that are missing have nothing yet. */
export type Former = ReadonlyMap<string, NodePlan>

/** What would be done, judged by what was recorded, without asking any host. */
export function propose(
  wish: Wish,
  facts: ReadonlyMap<string, Facts>,
  former: Former,
  { ignored, limited }: { readonly ignored: readonly string[]; readonly limited: boolean },
): Proposal {
  const { plans, findings } = planFrom(wish, facts, ignored)
  if (hasErrors(findings)) return { ...nothing, findings }
  const ops = new Map(plans.map((plan) => [plan.host, diff(plan, presentOf(former.get(plan.host)))]))
  const { spec } = wish.cluster
  const rolled = rollout({
    plans,
    ops,
    live: liveOf(former),
    unreachable: spec.hosts.map(({ name }) => name).filter((name) => !facts.has(name)),
    leaving: leavingOf(former, new Set(spec.hosts.map(({ name }) => name))),
    wished: rolesIn(wish.cluster),
    maxUnavailable: spec.rollout.maxUnavailable,
    kubeletBefore: kubeletsOf(former),
  })
  // What a cluster has of its addons, no plan of hosts says; and they are no host's.
  const addons = former.size > 0 || limited ? noAddons : foreseeAddons(addonInput(wish, facts))
  const all = [
    ...findings,
    ...ofRollout(rolled.findings, ignored),
    ...addons.findings.filter(unlessIgnored(ignored)),
  ]
  return { ...nothing, findings: all, plans, ops, steps: rolled.steps, addons }
}

/** Nothing is put anywhere, so that there is no certificate for anything. */
function addonInput(wish: Wish, facts: ReadonlyMap<string, Facts>): AddonInput {
  return { ...addonsOf(wish, facts), metricsCertificate: undefined }
}

function presentOf(former: NodePlan | undefined): ReturnType<typeof presentAfter> {
  return former === undefined ? [] : presentAfter(former)
}

/** Those that the former plan had and the file has no longer. */
function leavingOf(former: Former, wished: ReadonlySet<string>): Leaving[] {
  return [...former.values()]
    .filter(({ host }) => !wished.has(host))
    .map((plan) => ({ host: plan.host, answers: true, live: rolesOf(plan) }))
}

function liveOf(former: Former): Live {
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

function kubeletsOf(former: Former): ReadonlyMap<string, string> {
  return new Map(
    [...former.values()].flatMap(({ host, components }) => {
      const version = components.find(({ name }) => name === 'kubelet')?.version
      return version === undefined ? [] : [[host, version] as const]
    }),
  )
}
