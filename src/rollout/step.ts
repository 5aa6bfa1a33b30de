import type { Stage } from '../contract/stage.ts'
import type { Roles } from './input.ts'

/** What must be so before a step begins, or after it before the next one does. */
export type Gate =
  /** Enough of the members are well for etcd to go on while this one is away. */
  | { readonly kind: 'etcd-quorum-without'; readonly host: string; readonly members: readonly string[] }
  | { readonly kind: 'etcd-healthy'; readonly members: readonly string[] }
  /** It has caught up with the others, and votes. */
  | { readonly kind: 'etcd-member-promoted'; readonly host: string }
  | { readonly kind: 'api-ready'; readonly hosts: readonly string[] }
  | { readonly kind: 'controllers-ready'; readonly host: string }
  | { readonly kind: 'nodes-ready'; readonly hosts: readonly string[] }
  | { readonly kind: 'network-ready'; readonly hosts: readonly string[] }

interface Turn {
  /** The same whenever the same is to be done. */
  readonly id: string
  readonly hosts: readonly string[]
  readonly before: readonly Gate[]
  readonly after: readonly Gate[]
  /** Whether pods are moved away from the hosts first. */
  readonly drain: boolean
  /** Whether something that runs is stopped or restarted. */
  readonly disruptive: boolean
}

/** Some hosts are taken through a stage, side by side. */
export interface ApplyStep extends Turn {
  readonly what: 'apply'
  /** Through this stage, and all before it. */
  readonly stage: Stage
  /** Those in which there is something to do. */
  readonly stages: readonly Stage[]
}

/** A host leaves the cluster: it gives up what it is, and everything of ours goes off it. */
export interface LeaveStep extends Turn {
  readonly what: 'leave'
  readonly host: string
  readonly live: Roles
  /** It does not answer, and is taken out without its help. */
  readonly lost: boolean
}

export type Step = ApplyStep | LeaveStep

const early: ReadonlySet<Stage> = new Set(['prepare', 'etcd', 'api'])

/** Whether there need be no API yet that answers. */
export function isEarly(stage: Stage): boolean {
  return early.has(stage)
}

export function isApply(one: Step): one is ApplyStep {
  return one.what === 'apply'
}

/** Whether a step is over before an API has to answer. */
export function beginsEarly(one: Step): boolean {
  return isApply(one) && one.stages.some(isEarly)
}

type Wish = Pick<ApplyStep, 'hosts' | 'stage'> & Partial<ApplyStep>

/** A step, of which only what there is needs to be said. */
export function step({ hosts, stage, ...more }: Wish): ApplyStep {
  const [first = ''] = hosts
  return {
    id: hosts.length > 1 ? `${stage}/${first}+${hosts.length - 1}` : `${stage}/${first}`,
    what: 'apply',
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
