import { HyperkubeError } from '../../kit/errors.ts'

/** A signal that is aborted together with another signal, until `defer` is called. */
export interface DeferredAbort extends Disposable {
  readonly signal: AbortSignal
  /**
   * After this call, an interrupt no longer aborts the signal. A timeout still does, after a grace period.
   */
  readonly defer: () => void
}

/** Time that hosts have to finish after --timeout has passed. */
const defaultGraceMs = 30_000

/**
 * Creates the signal for connections to hosts. While hosts are only read, an interrupt closes connections at
 * once. While hosts are changed, connections must stay open, because the command waits for the hosts and
 * releases the lock.
 */
export function createDeferredAbort(signal: AbortSignal, graceMs = defaultGraceMs): DeferredAbort {
  const controller = new AbortController()
  let isDeferred = false
  let timer: NodeJS.Timeout | undefined
  const follow = (): void => {
    const abort = (): void => controller.abort(signal.reason)
    if (!isDeferred) abort()
    // After a timeout, connections are closed when the grace period ends. There may be no operator who could
    // interrupt again.
    else if (signal.reason instanceof HyperkubeError) timer = setTimeout(abort, graceMs)
  }
  if (signal.aborted) controller.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    defer() {
      isDeferred = true
    },
    [Symbol.dispose]() {
      signal.removeEventListener('abort', follow)
      clearTimeout(timer)
    },
  }
}
