import type { ProgramName } from './program-flags.ts'

export interface RemovedFlag {
  readonly program: ProgramName
  /** Flag name without dashes. A trailing star matches any suffix. */
  readonly flag: string
  /** First minor version of the program that refuses to start with the flag. */
  readonly removedIn: string
}

/**
 * Removed flags that are not in any generated flag list. Other removals are found by comparing the flag
 * lists.
 */
export const removedFlags: readonly RemovedFlag[] = [
  { program: 'kubelet', flag: 'pod-infra-container-image', removedIn: '1.35' },
  { program: 'etcd', flag: 'experimental-*', removedIn: '3.7' },
]
