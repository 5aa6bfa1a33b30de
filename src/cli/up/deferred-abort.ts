import { HyperkubeError } from '../../kit/errors.ts'

/** A signal that follows another one until it is let go. */
export interface Leash extends Disposable {
  readonly signal: AbortSignal
  /** From now on what was begun is finished, though somebody interrupts. A deadline counts all the same, after a while. */
  readonly letGo: () => void
}

/** How long hosts may take to finish when the time of --timeout is over. */
const usualPatience = 30_000

/**
 * The ways to hosts hang on it: while hosts are only asked, an interruption ends them at once; once hosts are at work it
 * must not, because somebody has to wait for them and give the claim back.
 */
export function leash(signal: AbortSignal, patience = usualPatience): Leash {
  const own = new AbortController()
  let isFree = false
  let timer: NodeJS.Timeout | undefined
  const follow = (): void => {
    const end = (): void => own.abort(signal.reason)
    if (!isFree) end()
    // Nobody may be there to interrupt once more.
    else if (signal.reason instanceof HyperkubeError) timer = setTimeout(end, patience)
  }
  if (signal.aborted) own.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  return {
    signal: own.signal,
    letGo() {
      isFree = true
    },
    [Symbol.dispose]() {
      signal.removeEventListener('abort', follow)
      clearTimeout(timer)
    },
  }
}
