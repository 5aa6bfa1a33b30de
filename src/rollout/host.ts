import { toMinor } from '../catalog/version.ts'
import type { Stage } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import type { HostRoles, RolloutInput } from './input.ts'

/**
 * Properties of a host that decide when its changes run. The inherited fields are the desired roles, `live`
 * has the current roles.
 */
export interface RolloutHost extends HostRoles {
  readonly name: string
  readonly reachable: boolean
  /** Current roles. */
  readonly live: HostRoles
  /** Stages in which this host has ops. */
  readonly changedStages: ReadonlySet<Stage>
  /** Stages in which a running service is stopped or restarted. */
  readonly disruptedStages: ReadonlySet<Stage>
  readonly drain: boolean
  /** True if hyperkube manages the pod network of this host. */
  readonly managedNetwork: boolean
}

export function isWorker({ node, controlPlane }: RolloutHost): boolean {
  return node && !controlPlane
}

export function hasStageChanges({ changedStages }: RolloutHost, ...stages: readonly Stage[]): boolean {
  return stages.some((stage) => changedStages.has(stage))
}

export function isDisrupted({ disruptedStages }: RolloutHost, ...stages: readonly Stage[]): boolean {
  return stages.some((stage) => disruptedStages.has(stage))
}

export function listHostNames(hosts: readonly RolloutHost[]): string[] {
  return hosts.map(({ name }) => name)
}

const stageRoles: Readonly<Record<Stage, keyof HostRoles | undefined>> = {
  prepare: undefined,
  etcd: 'member',
  api: 'controlPlane',
  controllers: 'controlPlane',
  node: 'node',
  network: 'node',
}

/**
 * True if the host has, or will have, the role that belongs to the stage. On other hosts, the ops of this
 * stage affect no peer.
 */
export function takesPartInStage(host: RolloutHost, stage: Stage): boolean {
  const role = stageRoles[stage]
  return role === undefined || host[role] || host.live[role]
}

/** Host names by current role, and the names of unreachable hosts. */
export type HostSets = Readonly<Record<keyof HostRoles | 'unreachable', ReadonlySet<string>>>

export function buildRolloutHost(
  name: string,
  plan: NodePlan | undefined,
  sets: HostSets,
  input: RolloutInput,
): RolloutHost {
  const live = {
    member: sets.member.has(name),
    controlPlane: sets.controlPlane.has(name),
    node: sets.node.has(name),
  }
  const reachable = !sets.unreachable.has(name)
  const ops = reachable ? (input.ops.get(name) ?? []) : []
  const changedStages = new Set(ops.map(({ stage }) => stage))
  return {
    name,
    reachable,
    ...(plan === undefined ? (input.desiredRoles.get(name) ?? toDefaultRoles(live)) : readRoles(plan)),
    live,
    changedStages,
    disruptedStages: new Set(ops.filter((op) => isDisruptiveOp(op, ops)).map(({ stage }) => stage)),
    drain:
      live.node &&
      changedStages.has('node') &&
      (changesMinor(plan, input.currentKubelets.get(name)) || changesRuntime(plan, ops)),
    managedNetwork: plan?.components.some((component) => component.name === 'flanneld') ?? false,
  }
}

/** Reads the roles that a plan gives its host. */
export function readRoles({ components, node }: NodePlan): HostRoles {
  return {
    member: components.some(({ stage }) => stage === 'etcd'),
    controlPlane: components.some(({ stage }) => stage === 'api'),
    node: node !== undefined,
  }
}

/** True if the host is neither an etcd member nor a control plane. */
export function isWorkerPlan(plan: NodePlan): boolean {
  const { member, controlPlane } = readRoles(plan)
  return !member && !controlPlane
}

function toDefaultRoles({ member, controlPlane, node }: HostRoles): HostRoles {
  return { member, controlPlane, node: node || (!member && !controlPlane) }
}

function isDisruptiveOp(op: Op, ops: readonly Op[]): boolean {
  return op.action === 'restart' || op.action === 'stop' || endsPredecessor(op, ops)
}

/**
 * True if the op ends what a component of an adopted host replaces. After an interrupted move the op is a change.
 * The service of the component does not run then, so the predecessor may still run.
 */
function endsPredecessor({ component, action, target }: Op, ops: readonly Op[]): boolean {
  if (target !== 'predecessor') return false
  const startsService = ops.some((op) => op.component === component && isFirstStart(op))
  return action === 'create' || (action === 'change' && startsService)
}

/** True for the start of a service that does not run. A restart for its own unit means that it never ran. */
export function isFirstStart({ target, action, name, because }: Op): boolean {
  if (target !== 'service') return false
  return action === 'create' || action === 'start' || (action === 'restart' && because.includes(name))
}

/** True if the minor version of the kubelet changes. Such a change requires a drain. */
function changesMinor(plan: NodePlan | undefined, before: string | undefined): boolean {
  const after = plan?.components.find(({ name }) => name === 'kubelet')?.version
  if (before === undefined || after === undefined) return false
  // Nodes report their version with a leading v.
  return toMinor(before.replace(/^v/, '')) !== toMinor(after)
}

/** True if containerd replaces Docker. It cannot take over the pods, so they must be created again. */
function changesRuntime(plan: NodePlan | undefined, ops: readonly Op[]): boolean {
  const replacesDocker = plan?.components.some(({ replaces }) => replaces?.kind === 'docker') ?? false
  return replacesDocker && ops.some((op) => op.component === 'containerd' && endsPredecessor(op, ops))
}
