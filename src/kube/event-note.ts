/** What an event says about an object; `kubectl describe` shows it. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  /** Cause in CamelCase, for programs: FailedApply. */
  readonly reason: string
  /** What was done or tried, in CamelCase: Apply. */
  readonly action: string
  /** Text for people. */
  readonly note: string
}
