/** Content of an event about an object, as shown by `kubectl describe`. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  /** Machine-readable cause in CamelCase, for example FailedApply. */
  readonly reason: string
  /** The action that was done or tried, in CamelCase, for example Apply. */
  readonly action: string
  /** Message for people. */
  readonly note: string
}
