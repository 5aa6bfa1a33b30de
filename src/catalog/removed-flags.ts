/** A program whose flags a cluster.yml can set. */
export type Program =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'flanneld'

export interface RemovedFlag {
  readonly program: Program
  /** Without dashes; a star at the end stands for any rest. */
  readonly flag: string
  /** The first minor of the program itself that does not know the flag and refuses to start with it. */
  readonly removedIn: string
}

/** Only what is known for certain: a flag that is not here may be gone all the same. */
export const removedFlags: readonly RemovedFlag[] = [
  { program: 'kubelet', flag: 'pod-infra-container-image', removedIn: '1.35' },
  { program: 'etcd', flag: 'experimental-*', removedIn: '3.7' },
]
