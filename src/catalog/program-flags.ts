/** A program whose flags a cluster.yml can set. */
export type Program =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'flanneld'

/** A boolean takes true or false only. What any other takes, a program does not say for certain. */
export type FlagKind = 'boolean' | 'value'

/** By name, without dashes. */
export type Flags = Readonly<Record<string, FlagKind>>

export type ProgramFlags = Readonly<Partial<Record<Program, Flags>>>
