/** A program whose flags cluster.yml can set. */
export type ProgramName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'flanneld'

/**
 * `boolean` flags accept only true or false. Other types are not distinguished, because programs do not print
 * them reliably.
 */
export type FlagKind = 'boolean' | 'value'

/** Flags of a program. The key is the flag name without dashes. */
export type Flags = Readonly<Record<string, FlagKind>>

export type ProgramFlags = Readonly<Partial<Record<ProgramName, Flags>>>

/** Difference of a program's flags between two minors. Removed flags have their previous kind. */
export type FlagChanges = Readonly<Partial<Record<'added' | 'changed' | 'removed', Flags>>>

/** Flags of all minors of a component, as the generator stores them. */
export interface FlagTable {
  /** Flags of the oldest minor. */
  readonly base: { readonly minor: string; readonly flags: ProgramFlags }
  /** Differences of each later minor from the previous minor, oldest first. */
  readonly changes: readonly {
    readonly minor: string
    readonly programs: Readonly<Partial<Record<ProgramName, FlagChanges>>>
  }[]
}
