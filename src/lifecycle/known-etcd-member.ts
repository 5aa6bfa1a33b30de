/** An etcd member as listed by the members themselves. */
export interface KnownEtcdMember {
  /** Name of its host; empty until the member has started once. */
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly learner: boolean
}
