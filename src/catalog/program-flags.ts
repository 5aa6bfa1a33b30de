/** A program whose flags cluster.yml can set. */
export type ProgramName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'flanneld'

/** A boolean accepts only true or false. The help output of programs does not state other types reliably. */
export type FlagKind = 'boolean' | 'value'

/** By name, without dashes. */
export type Flags = Readonly<Record<string, FlagKind>>

export type ProgramFlags = Readonly<Partial<Record<ProgramName, Flags>>>
