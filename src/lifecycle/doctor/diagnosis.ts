/** What the agent of a host makes of something that is wrong there. */
export interface Healing {
  /** What it did last about it, and when. */
  readonly did?: string
  /** What it does next, or why nothing. */
  readonly next: string
}

/** Something that is wrong, as far as one has seen it. What its code means is in the catalogue of findings. */
export interface Diagnosis {
  readonly code: string
  readonly severity: 'error' | 'warning'
  /** In one sentence without a full stop. */
  readonly what: string
  /** Since when at the latest, where that is known. */
  readonly since?: string
  readonly host?: string
  readonly component?: string
  /** What was seen, a line each. */
  readonly evidence: readonly string[]
  /** What to type. */
  readonly command: string
  readonly healing?: Healing
  /** Whether nobody but a person will mend it. */
  readonly needsPerson: boolean
  /** What it comes of, by `keyOf`. It is gone when that is. */
  readonly follows?: string
}

/** What tells one from all others: its code and its place. */
export function keyOf({ code, host, component }: Pick<Diagnosis, 'code' | 'host' | 'component'>): string {
  const place = [host, component].filter((part) => part !== undefined)
  return place.length === 0 ? code : `${code} ${place.join('/')}`
}
