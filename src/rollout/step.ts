import type { Stage } from '../contract/component-plan.ts'
import type { HostRoles } from './input.ts'

/** A condition that must hold before a step begins (`before`), or before the next step begins (`after`). */
export type Gate =
  /** Enough healthy etcd members remain for a quorum while `host` is down. */
  | { readonly kind: 'etcd-quorum-without'; readonly host: string; readonly members: readonly string[] }
  | { readonly kind: 'etcd-healthy'; readonly members: readonly string[] }
  /** The etcd member has caught up and votes. */
  | { readonly kind: 'etcd-member-promoted'; readonly host: string }
  | { readonly kind: 'api-ready'; readonly hosts: readonly string[] }
  | { readonly kind: 'controllers-ready'; readonly host: string }
  | {
      readonly kind: 'nodes-ready'
      readonly hosts: readonly string[]
      /** Container runtime that the nodes must report. Otherwise a node counts as ready until its silence is noticed. */
      readonly runtime?: string
    }
  | { readonly kind: 'network-ready'; readonly hosts: readonly string[] }

interface StepBase {
  /** Id of the step. Equal changes give equal ids. */
  readonly id: string
  readonly hosts: readonly string[]
  readonly before: readonly Gate[]
  readonly after: readonly Gate[]
  /** True if the hosts are drained first. */
  readonly drain: boolean
  /** True if a running service is stopped or restarted by the step. */
  readonly disruptive: boolean
}

/** Applies one or more stages to hosts in parallel. */
export interface ApplyStep extends StepBase {
  readonly kind: 'apply'
  /** Last stage of the step; earlier stages are applied too. */
  readonly stage: Stage
  /** Stages of this step in which the hosts have ops. */
  readonly stages: readonly Stage[]
}

/** Removes a host from the cluster, with everything hyperkube installed on it. */
export interface RemoveStep extends StepBase {
  readonly kind: 'remove'
  readonly host: string
  readonly live: HostRoles
  /** True if the host is unreachable and is removed without its agent. */
  readonly unreachable: boolean
}

export type RolloutStep = ApplyStep | RemoveStep

const stagesBeforeApi: ReadonlySet<Stage> = new Set(['prepare', 'etcd', 'api'])

/** True for stages that run before the API is available, including the stage that starts the API servers. */
export function isBeforeApi(stage: Stage): boolean {
  return stagesBeforeApi.has(stage)
}

export function isApplyStep(one: RolloutStep): one is ApplyStep {
  return one.kind === 'apply'
}

/** True if at least one stage of the step runs before the API is available. */
export function startsBeforeApi(one: RolloutStep): boolean {
  return isApplyStep(one) && one.stages.some(isBeforeApi)
}

type ApplyStepFields = Pick<ApplyStep, 'hosts' | 'stage'> & Partial<ApplyStep>

export function buildApplyStep({ hosts, stage, ...more }: ApplyStepFields): ApplyStep {
  const [first = ''] = hosts
  return {
    id: hosts.length > 1 ? `${stage}/${first}+${hosts.length - 1}` : `${stage}/${first}`,
    kind: 'apply',
    hosts,
    stage,
    stages: [stage],
    before: [],
    after: [],
    drain: false,
    disruptive: false,
    ...more,
  }
}
