import { isEntirelyNew } from '../../addons/addon-difference.ts'
import type { ClusterWriter } from '../cluster-access.ts'
import { type AddonProposal, isFeasible } from './proposal.ts'
import { isBuiltIn } from './apply-addons.ts'

/** Addons that are applied while hosts are still being changed. Disposing it early aborts the work. */
export interface EarlyApply extends AsyncDisposable {
  begin(): void
  /** Waits for what was started. Errors are ignored here, because the later regular apply reports them. */
  end(): Promise<void>
}

export interface EarlyApplyOptions {
  readonly writer: Pick<ClusterWriter, 'applyAddonNoWait'>
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Milliseconds. Nothing waits for workloads, so applying takes a second or two. */
const timeoutMs = 60_000

/**
 * In a new cluster the objects of built-in addons can exist before its nodes, so that pods start as soon as
 * nodes are ready. Changes to existing addons wait for their regular step.
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
