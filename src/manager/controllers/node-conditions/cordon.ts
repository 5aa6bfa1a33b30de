export interface CordonView {
  readonly unschedulable: boolean
  /** The hyperkube controller that cordoned it, if one did. */
  readonly cordonedBy: string | undefined
  readonly isDiskFailing: boolean
  /** How long no disk probe has failed, in milliseconds. */
  readonly healthyForMs: number
}

export type CordonAction = 'cordon' | 'uncordon' | 'forget' | 'nothing'

/** Value of the annotation on nodes that this controller cordoned. */
export const diskCordonerName = 'disk-cordoner'

/** In milliseconds. A disk that fails now and then must not move pods back and forth. */
export const diskSettleMs = 10 * 60_000

/**
 * Decides what to do about a node whose disk fails or has recovered. Cordons of others are left alone. If a
 * user uncordons the node, that holds until the disk has recovered.
 */
export function decideCordon({
  unschedulable,
  cordonedBy,
  isDiskFailing,
  healthyForMs,
}: CordonView): CordonAction {
  if (cordonedBy !== undefined && cordonedBy !== diskCordonerName) return 'nothing'
  const isOwn = cordonedBy === diskCordonerName
  if (isDiskFailing) return unschedulable || isOwn ? 'nothing' : 'cordon'
  if (!isOwn || healthyForMs < diskSettleMs) return 'nothing'
  return unschedulable ? 'uncordon' : 'forget'
}
