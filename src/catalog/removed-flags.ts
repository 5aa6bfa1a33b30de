import type { ProgramName } from './program-flags.ts'

export interface RemovedFlag {
  readonly program: ProgramName
  /** Without dashes; a trailing star matches any suffix. */
  readonly flag: string
  /** First minor of the program that refuses to start with the flag. */
  readonly removedIn: string
}

/**
 * Flags that none of the generated flag lists contains, with a known removal. Other removals are derived from
 * the flag lists.
 */
export const removedFlags: readonly RemovedFlag[] = [
  { program: 'kubelet', flag: 'pod-infra-container-image', removedIn: '1.35' },
  { program: 'etcd', flag: 'experimental-*', removedIn: '3.7' },
]
