import { compareVersions, parseVersion } from '../catalog/version.ts'

/** The hyperkube release that is installed on hosts. */
export interface AgentRelease {
  /** Includes the start of the digest, so two builds of one version have different values. */
  readonly version: string
  readonly file: string
  readonly sha256: string
}

/** What to do with the agent that is installed on a host. */
export type AgentDecision = 'install' | 'keep' | 'refuse'

/**
 * Decides what to do with the installed agent. It must not be older than the operator's release, because it
 * must know every request. A newer agent of the same or the next minor version stays, because another
 * operator needs it. Fields and events that only newer releases know are ignored.
 */
export function decideAgent(own: string, found: string | undefined): AgentDecision {
  const [ownNumbers, foundNumbers] = [parseNumbers(own), parseNumbers(found ?? '')]
  if (
    foundNumbers === undefined ||
    ownNumbers === undefined ||
    compareVersions(foundNumbers, ownNumbers) <= 0
  )
    return 'install'
  const [[ownMajor, ownMinor], [major, minor]] = [parseVersion(ownNumbers), parseVersion(foundNumbers)]
  return major === ownMajor && minor - ownMinor <= 1 ? 'keep' : 'refuse'
}

/** Returns the version without its digest, because the digest does not tell which of two builds is newer. */
function parseNumbers(version: string): string | undefined {
  return /^\d+\.\d+\.\d+/.exec(version)?.[0]
}
