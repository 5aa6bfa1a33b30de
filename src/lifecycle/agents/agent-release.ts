import { compareVersions, parseVersion } from '../../catalog/version.ts'
import type { RunnerContext } from '../../plan/windows/service.ts'

/** The hyperkube release that is installed on hosts. */
export interface AgentRelease {
  /** Version number with the start of the sha256, so that two builds of one version differ. */
  readonly version: string
  readonly file: string
  readonly sha256: string
  /** Returns the path of the gzip-compressed file. */
  readonly compress: () => Promise<string>
}

/** What to do with the agent that is installed on a host. */
export type AgentDecision = 'install' | 'keep' | 'refuse'

/**
 * Decides what to do with the installed agent. The agent must not be older than the operator's release,
 * because it must know every request. A newer agent of the same or the next minor version stays, because
 * another operator may need it. This release ignores fields and events of newer releases that it does not
 * know.
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

export interface AgentInstallOptions {
  readonly signal: AbortSignal
  readonly onProgress: (sent: number, size: number) => void
  /** Milliseconds until the host rolls back to the previous agent, unless the new agent is confirmed. */
  readonly rollbackAfterMs?: number
  /** Input from which the service of the agent is planned. Required for Windows hosts. */
  readonly setup?: RunnerContext | undefined
  readonly readBundledFile?: ReadBundledFile | undefined
}

/**
 * Returns a local file by its sha256, for hosts that must not download it. Undefined if hosts download it
 * themselves.
 */
export type ReadBundledFile = (sha256: string) => Promise<Uint8Array | undefined>

/** The agent that a host runs after the installation. */
export interface InstalledAgent {
  readonly version: string
  /** True if the host rolls back to the previous agent unless the new agent is confirmed. */
  readonly provisional: boolean
}
