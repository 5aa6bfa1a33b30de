import type { RunnerContext } from '../plan/windows/runner.ts'

export interface AgentInstallOptions {
  readonly signal: AbortSignal
  readonly onProgress: (sent: number, size: number) => void
  /** Milliseconds until the host rolls back to the previous agent, unless the new agent is confirmed. */
  readonly rollbackAfterMs?: number
  /** Input of the plan for the agent of a Windows host. */
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
  /** True if the host rolls back to the previous agent unless this one is confirmed. */
  readonly provisional: boolean
}
