import type { NodePlan } from '../../contract/node-plan.ts'
import { computeDigest } from '../../diff/digest.ts'
import { readAppliedPlan, appliedPlanFile } from '../apply/applied-plan.ts'
import { statePath } from '../apply/state-file.ts'
import type { Host } from '../host/host.ts'

export interface WatchedPlan {
  readonly plan: NodePlan
  readonly digest: string
}

/**
 * Returns a function that reads the last applied plan. The plan is large, so it is read again only if its
 * file has changed.
 */
export function watchPlan(host: Host): () => Promise<WatchedPlan | undefined> {
  let known: { readonly stamp: string; readonly watched: WatchedPlan | undefined } | undefined
  return async () => {
    const facts = await host.files.stat(statePath(host, appliedPlanFile))
    const stamp = facts === undefined ? '' : `${facts.inode} ${facts.modified} ${facts.changed} ${facts.size}`
    if (known?.stamp === stamp) return known.watched
    const plan = await readAppliedPlan(host)
    known = { stamp, watched: plan === undefined ? undefined : { plan, digest: computeDigest(plan) } }
    return known.watched
  }
}
