/** An entry of the member list that etcd returns. */
export interface KnownEtcdMember {
  /** Host name of the member; empty until the member has started once. */
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly learner: boolean
}
