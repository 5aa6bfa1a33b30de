import type { NodePlan } from '../../contract/node-plan.ts'
import { digestOf } from '../../diff/digest.ts'
import { lastPlan, planFile } from '../apply/applied-plan.ts'
import { statePath } from '../apply/state-file.ts'
import type { Host } from '../host/host.ts'

export interface WatchedPlan {
  readonly plan: NodePlan
  readonly digest: string
}

/** The plan that the host was taken through last. It is large, and read again only when its file is another one. */
export function watchPlan(host: Host): () => Promise<WatchedPlan | undefined> {
  let known: { readonly mark: string; readonly watched: WatchedPlan | undefined } | undefined
  return async () => {
    const facts = await host.files.stat(statePath(host, planFile))
    const mark = facts === undefined ? '' : `${facts.inode} ${facts.modified} ${facts.changed} ${facts.size}`
    if (known?.mark === mark) return known.watched
    const plan = await lastPlan(host)
    known = { mark, watched: plan === undefined ? undefined : { plan, digest: digestOf(plan) } }
    return known.watched
  }
}
