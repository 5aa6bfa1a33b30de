import type { Op } from '../../contract/op.ts'
import type { KeyCount } from '../../etcd/member.ts'
import type { SortedPods } from '../../lifecycle/drain/pod.ts'
import type { ComponentRow } from '../../lifecycle/eject/component-fate.ts'
import type { Proposal } from '../../lifecycle/proposal/proposal.ts'
import type { PlannedProvisionalChange } from '../../lifecycle/provisional/plan-provisional.ts'
import type { SnapshotManifest } from '../../snapshot/manifest.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { UnknownHostKey } from '../../ssh/host-key-errors.ts'

/** Something that an action shows the operator. The caller formats it. */
export type Notice =
  | {
      readonly type: 'proposal'
      readonly cluster: Cluster
      readonly proposal: Proposal
      readonly provisional: PlannedProvisionalChange | undefined
    }
  | {
      /** A run with a provisional change has failed. */
      readonly type: 'provisional-unfinished'
      readonly provisional: PlannedProvisionalChange
      readonly startedAt: Date
    }
  | { readonly type: 'no-provisional-change' }
  | { readonly type: 'already-rolled-back'; readonly hosts: readonly string[] }
  | {
      readonly type: 'reset'
      readonly cluster: Cluster
      readonly hosts: readonly string[]
      /** Whether all hosts of the cluster are reset. */
      readonly isWholeCluster: boolean
    }
  | { readonly type: 'removal-ops'; readonly host: string; readonly ops: readonly Op[] }
  | ({ readonly type: 'restore' } & RestoreSummary)
  | { readonly type: 'host-keys'; readonly unknown: readonly UnknownHostKey[] }
  | { readonly type: 'rejoin'; readonly host: string }
  | { readonly type: 'eject'; readonly components: readonly ComponentRow[]; readonly directory: string }
  | { readonly type: 'drain'; readonly node: string; readonly pods: SortedPods }

export interface RestoreSummary {
  readonly name: string
  readonly manifest: SnapshotManifest
  readonly now: Date
  /** Key count of the member with the highest revision; undefined if no member responds. */
  readonly current: KeyCount | undefined
  readonly members: readonly string[]
  /** Hosts on which services stop. */
  readonly hosts: readonly string[]
}
