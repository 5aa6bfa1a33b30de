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
