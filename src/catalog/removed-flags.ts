import type { Program } from './program-flags.ts'

export interface RemovedFlag {
  readonly program: Program
  /** Without dashes; a star at the end stands for any rest. */
  readonly flag: string
  /** The first minor of the program itself that does not know the flag and refuses to start with it. */
  readonly removedIn: string
}

/** Removals that are certain, of flags that no program we have asked still takes. What others lost, their flags tell. */
export const removedFlags: readonly RemovedFlag[] = [
  { program: 'kubelet', flag: 'pod-infra-container-image', removedIn: '1.35' },
  { program: 'etcd', flag: 'experimental-*', removedIn: '3.7' },
]
