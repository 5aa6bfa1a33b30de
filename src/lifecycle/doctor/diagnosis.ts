/** What the agent of a host does about a problem. */
export interface HealingStatus {
  /** The last action and its time. */
  readonly lastAction?: string
  /** The next action, or why there is none. */
  readonly nextAction: string
}

/** One problem. The meaning of its code is in the table of error codes. */
export interface Diagnosis {
  readonly code: string
  readonly severity: 'error' | 'warning'
  /** One sentence without a full stop. */
  readonly what: string
  /** The latest time at which the problem can have begun, if known. */
  readonly since?: string
  readonly host?: string
  readonly component?: string
  /** What was observed, one line each. */
  readonly evidence: readonly string[]
  /** The command to run. */
  readonly command: string
  readonly healing?: HealingStatus
  /** True if only an operator can fix it. */
  readonly needsOperator: boolean
  /** Key of the cause, from `formatDiagnosisKey`. The problem ends with its cause. */
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
