export interface CordonView {
  readonly unschedulable: boolean
  /** Who has cordoned it, where it was one of ours. */
  readonly cordonedBy: string | undefined
  readonly diskFails: boolean
  /** For how long no probe of a disk has failed, in milliseconds. */
  readonly wellFor: number
}

export type CordonAction = 'cordon' | 'uncordon' | 'forget' | 'nothing'

/** As whom we cordon. */
export const cordoner = 'disk-cordoner'

/** In milliseconds: a disk that comes and goes does not have pods come and go. */
export const settledAfter = 10 * 60_000

/**
 * What to do about a node whose disk fails, or does not any more. What somebody else has cordoned is left alone; and where
 * somebody takes ours away, that counts until the disk was well again.
 */
export function decideCordon({ unschedulable, cordonedBy, diskFails, wellFor }: CordonView): CordonAction {
  if (cordonedBy !== undefined && cordonedBy !== cordoner) return 'nothing'
  const isOurs = cordonedBy === cordoner
  if (diskFails) return unschedulable || isOurs ? 'nothing' : 'cordon'
  if (!isOurs || wellFor < settledAfter) return 'nothing'
  return unschedulable ? 'uncordon' : 'forget'
}
