export interface HostProcess {
  readonly pid: number
  readonly parent: number
  readonly argv: readonly string[]
}

export interface Processes {
  list(): Promise<readonly HostProcess[]>
  /** At once, without a word to it. */
  kill(pid: number): Promise<void>
}
