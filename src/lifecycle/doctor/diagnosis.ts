/** What the agent of a host has done and will do about a problem. */
export interface HealingStatus {
  /** The last action and its time. */
  readonly lastAction?: string
  /** The next action, or why the agent will do nothing. */
  readonly nextAction: string
}

/** One problem. Its code is explained in the table of error codes. */
export interface Diagnosis {
  readonly code: string
  readonly severity: 'error' | 'warning'
  /** One sentence without a full stop. */
  readonly what: string
  /** The latest time at which the problem can have begun, if known. */
  readonly since?: string
  readonly host?: string
  readonly component?: string
  /** Observations that show the problem, one line each. */
  readonly evidence: readonly string[]
  /** Command that the operator should run. */
  readonly command: string
  readonly healing?: HealingStatus
  /** True if only an operator can fix the problem. */
  readonly needsOperator: boolean
  /** Key of the causing diagnosis, from `formatDiagnosisKey`. The problem ends when its cause is fixed. */
  readonly causedBy?: string
}

/** Formats code, host and component, which together identify a diagnosis. */
export function formatDiagnosisKey({
  code,
  host,
  component,
}: Pick<Diagnosis, 'code' | 'host' | 'component'>): string {
  const subject = [host, component].filter((part) => part !== undefined)
  return subject.length === 0 ? code : `${code} ${subject.join('/')}`
}
