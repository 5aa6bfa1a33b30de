import type { Addon } from '../addons/addon.ts'
import type { Member } from '../plan/topology.ts'
import type { Outcome, PutOptions } from '../addons/apply-addon.ts'
import type { Finding } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { AddonProposal, AddonWish } from './addons/proposal.ts'
import type { InsideChange } from './cluster-objects/changes.ts'
import type { Node } from './cluster-objects/node.ts'
import type { KnownMember } from './current-state.ts'
import type { TrialPods } from './smoke-test/smoke-test-pods.ts'

/** Why something is not well yet; undefined when it is. */
export type Unwell = string | undefined

/** What can be seen of a cluster from outside its hosts. */
export interface Observer {
  /** The members of etcd as they know each other; none when nobody answers. */
  members(): Promise<readonly KnownMember[]>
  /** The same as one of them remembers it, when too few of them answer to be sure. */
  remembered(): Promise<readonly KnownMember[]>
  /** Which etcd the member of a host belongs to, by host; of those that answer. */
  etcdIds(): Promise<ReadonlyMap<string, string>>
  /** Undefined when no API server answers. Addons are looked at where somebody wishes any. */
  inside(addons?: AddonWish): Promise<Inside | undefined>
  /** Of the hosts with these names. */
  etcdWell(hosts: readonly string[]): Promise<Unwell>
  apiReady(hosts: readonly string[]): Promise<Unwell>
  controllersReady(host: string): Promise<Unwell>
  nodesReady(hosts: readonly string[]): Promise<Unwell>
  isVoter(host: string): Promise<Unwell>
  /** What should be known before pods are moved away from these hosts. */
  drainFindings(hosts: readonly string[]): Promise<readonly Finding[]>
  /** What somebody has asked the API for that this version has no more. */
  removedApis(wished: string): Promise<readonly Finding[]>
}

/** What the API says of its cluster. */
export interface Inside {
  readonly nodes: readonly Node[]
  /** Of the API servers that answer, without a v. */
  readonly versions: readonly string[]
  /** Objects of ours that are not what they should be. */
  readonly objects: readonly InsideChange[]
  /** Names of nodes on which a run that was cut has left a pod of its trial. */
  readonly trials: readonly string[]
  readonly addons: AddonProposal
}

/** What is waited for inside a cluster, and for how long. */
export interface Patience {
  readonly waiting: (reason: string, since: string) => void
  /** Milliseconds. */
  readonly within: number
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Who belongs to a cluster is changed through these. */
export interface Membership {
  /** Gives a host a place in etcd, where it learns. Answers with all members that it must know. */
  joinEtcd(host: string, patience: Patience): Promise<readonly Member[]>
  /** Lets it vote, once it knows what the others know. */
  promote(host: string, patience: Patience): Promise<void>
  leaveEtcd(host: string): Promise<void>
  /** Moves pods away; off a host that is lost they are only struck off. */
  drain(host: string, patience: Patience & { readonly lost: boolean }): Promise<void>
  /** Lets pods come back. */
  uncordon(host: string): Promise<void>
  removeNode(host: string): Promise<void>
}

/** What is done in a cluster through its API. */
export interface Interior extends Membership {
  /** Gives our own programs, and people, the rights that they need. */
  putObjects(): Promise<void>
  /** Says of nodes what their kubelets may not say. */
  settleNodes(plans: readonly NodePlan[]): Promise<void>
  readonly trialPods: TrialPods
  /** Begins with it, and waits for nothing that runs. */
  layAddon(addon: Addon, options: PutOptions): Promise<void>
  putAddon(addon: Addon, options: PutOptions): Promise<Outcome>
  removeAddon(name: string, options: PutOptions): Promise<Outcome>
}
