import { isEntirelyNew } from '../../addons/addon-difference.ts'
import type { ClusterWriter } from '../cluster-access.ts'
import { type AddonProposal, isFeasible } from './proposal.ts'
import { isBuiltIn } from './apply-addons.ts'

/**
 * Applies addons while hosts are still being changed. Disposing this object aborts requests that are still
 * running.
 */
export interface EarlyApply extends AsyncDisposable {
  begin(): void
  /**
   * Waits for the requests that `begin` started. Errors are ignored here, because the later regular apply
   * reports them.
   */
  end(): Promise<void>
}

export interface EarlyApplyOptions {
  readonly writer: Pick<ClusterWriter, 'applyAddonNoWait'>
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Applying does not wait for workloads, so it usually takes only a second or two. */
const timeoutMs = 60_000

/**
 * Applies new built-in addons early, before nodes exist, so that their pods start as soon as nodes are ready.
 * Changes to existing addons wait for their regular step.
 */
export function createEarlyApply(
  { desired, differences }: AddonProposal,
  { writer, now, signal }: EarlyApplyOptions,
): EarlyApply {
  const newAddons = new Set(
    differences.filter((one) => isEntirelyNew(one) && isFeasible(one)).map(({ addon }) => addon),
  )
  const stop = new AbortController()
  let applying: Promise<unknown> = Promise.resolve()
  return {
    begin() {
      const options = {
        emit: () => undefined,
        now,
        deadline: now().getTime() + timeoutMs,
        signal: AbortSignal.any([signal, stop.signal]),
      }
      const all = desired
        .filter((addon) => isBuiltIn(addon) && newAddons.has(addon.name))
        .map(async (addon) => {
          const others = desired.filter(({ name }) => name !== addon.name)
          await writer.applyAddonNoWait(addon, { ...options, others })
        })
      applying = Promise.allSettled(all)
    },
    async end() {
      await applying
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await applying
    },
  }
}
