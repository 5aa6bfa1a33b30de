import { isEntirelyNew } from '../../addons/addon-difference.ts'
import type { Interior } from '../cluster-access.ts'
import { type AddonProposal, isFeasible } from './proposal.ts'
import { isOurs } from './apply-addons.ts'

/** Addons that are begun with while hosts are still at work. Whoever leaves early ends it. */
export interface Ahead extends AsyncDisposable {
  begin(): void
  /** Waits for what was begun. What has failed is met again when the addon is put there. */
  end(): Promise<void>
}

export interface AheadOptions {
  readonly interior: Pick<Interior, 'layAddon'>
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Nothing that runs is waited for, so that it takes a second or two. */
const patience = 60_000

/**
 * In a cluster that is founded, what our addons are made of can be there before its nodes are: pods then start as soon as
 * nodes are ready. What changes in a cluster that lives waits for its turn.
 */
export function aheadOf(
  { wished, differences }: AddonProposal,
  { interior, now, signal }: AheadOptions,
): Ahead {
  const fresh = new Set(
    differences.filter((one) => isEntirelyNew(one) && isFeasible(one)).map(({ addon }) => addon),
  )
  const stop = new AbortController()
  let laying: Promise<unknown> = Promise.resolve()
  return {
    begin() {
      const options = {
        tell: () => undefined,
        now,
        deadline: now().getTime() + patience,
        signal: AbortSignal.any([signal, stop.signal]),
      }
      const all = wished
        .filter((addon) => isOurs(addon) && fresh.has(addon.name))
        .map(async (addon) => {
          const others = wished.filter(({ name }) => name !== addon.name)
          await interior.layAddon(addon, { ...options, others })
        })
      laying = Promise.allSettled(all)
    },
    async end() {
      await laying
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await laying
    },
  }
}
