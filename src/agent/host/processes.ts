export interface HostProcess {
  readonly pid: number
  readonly parent: number
  readonly argv: readonly string[]
}

export interface Processes {
  list(): Promise<readonly HostProcess[]>
  /** Sends SIGKILL. */
  kill(pid: number): Promise<void>
}
