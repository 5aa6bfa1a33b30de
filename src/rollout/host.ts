import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import type { Stage } from '../contract/stage.ts'
import type { Roles, RolloutInput } from './input.ts'

/** A host as far as the order across hosts is concerned. */
export interface Host extends Roles {
  readonly name: string
  readonly answers: boolean
  /** What it is already; what it shall be is said by the host itself. */
  readonly live: Roles
  /** Stages in which there is something to do. */
  readonly touched: ReadonlySet<Stage>
  /** Stages in which something that runs is stopped or restarted. */
  readonly disturbed: ReadonlySet<Stage>
  readonly drain: boolean
  /** Whether its pods get their network from us. */
  readonly network: boolean
}

export function isWorker({ node, controlPlane }: Host): boolean {
  return node && !controlPlane
}

export function isTouched({ touched }: Host, ...among: readonly Stage[]): boolean {
  return among.some((stage) => touched.has(stage))
}

export function isDisturbed({ disturbed }: Host, ...among: readonly Stage[]): boolean {
  return among.some((stage) => disturbed.has(stage))
}

export function namesOf(hosts: readonly Host[]): string[] {
  return hosts.map(({ name }) => name)
}

const roles: Readonly<Record<Stage, keyof Roles | undefined>> = {
  prepare: undefined,
  etcd: 'member',
  api: 'controlPlane',
  controllers: 'controlPlane',
  node: 'node',
  network: 'node',
}

/** Whether what a host does in a stage concerns others: it is, or shall be, what the stage is about. */
export function takesPart(host: Host, stage: Stage): boolean {
  const role = roles[stage]
  return role === undefined || host[role] || host.live[role]
}

/** Names of hosts. */
export type Sets = Readonly<Record<keyof Roles | 'away', ReadonlySet<string>>>

export function hostOf(name: string, plan: NodePlan | undefined, sets: Sets, input: RolloutInput): Host {
  const live = {
    member: sets.member.has(name),
    controlPlane: sets.controlPlane.has(name),
    node: sets.node.has(name),
  }
  const answers = !sets.away.has(name)
  const ops = answers ? (input.ops.get(name) ?? []) : []
  const touched = new Set(ops.map(({ stage }) => stage))
  return {
    name,
    answers,
    ...(plan === undefined ? (input.wished.get(name) ?? rolesWithoutPlan(live)) : rolesOf(plan)),
    live,
    touched,
    disturbed: new Set(ops.filter(disturbs).map(({ stage }) => stage)),
    drain: live.node && touched.has('node') && changesMinor(plan, input.kubeletBefore.get(name)),
    network: plan?.components.some((component) => component.name === 'flanneld') ?? false,
  }
}

/** What a plan makes of its host. */
export function rolesOf({ components, node }: NodePlan): Roles {
  return {
    member: components.some(({ stage }) => stage === 'etcd'),
    controlPlane: components.some(({ stage }) => stage === 'api'),
    node: node !== undefined,
  }
}

/** Whether nobody counts on a host but its own pods. */
export function isWorkerPlan(plan: NodePlan): boolean {
  const { member, controlPlane } = rolesOf(plan)
  return !member && !controlPlane
}

function rolesWithoutPlan({ member, controlPlane, node }: Roles): Roles {
  return { member, controlPlane, node: node || (!member && !controlPlane) }
}

function disturbs({ action }: Op): boolean {
  return action === 'restart' || action === 'stop'
}

/** Only with its pods moved away may a kubelet go from one minor version to another. */
function changesMinor(plan: NodePlan | undefined, before: string | undefined): boolean {
  const after = plan?.components.find(({ name }) => name === 'kubelet')?.version
  return before !== undefined && after !== undefined && minorOf(before) !== minorOf(after)
}

function minorOf(version: string): string {
  return version.replace(/^v/, '').split('.').slice(0, 2).join('.')
}
