import type { Host } from '../host/host.ts'
import { isTaken } from '../loop/is-locked-by-other.ts'
import { ownRun } from '../loop/start-own-run.ts'
import type { Look } from '../loop/run-loop.ts'
import type { HostWork } from '../server/dispatch.ts'
import type { ClaimStore } from '../operator-lock/operator-lock-store.ts'
import type { Runs } from '../runs/runs.ts'
import { backAt, type Quiet } from './rollback-time.ts'

export interface TrialScene {
  readonly host: Host
  readonly work: Pick<HostWork, 'trial' | 'goBack' | 'restoring'>
  readonly runs: Runs
  readonly claims: Pick<ClaimStore, 'held'>
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/** How often an agent looks whether it has to go back, in milliseconds: a look is one small file. */
export const looksEvery = 15_000
/** Not more often, though the time is near. */
const atMost = 1000
/** After it did not end well: what stands in the way is mostly a service that does not start. */
const again = 60_000

/**
 * Looks whether the time of a trial is over, and goes back then. All that counts is on the disk; what is remembered here
 * is only since when nobody else was at work, and an agent that starts anew waits for others anew.
 */
export function trialLook(scene: TrialScene): () => Promise<Look> {
  const { host, work, runs, claims, say, signal } = scene
  const time = (): number => host.clock.now().getTime()
  let since = time()

  const quiet = (): Quiet => ({ since, left: claims.held?.released ?? true })
  /** When to go back; nothing when there is nothing to go back from. */
  const due = async (): Promise<number | undefined> => {
    const trial = await work.trial()
    return trial?.state === 'on-trial' ? backAt(trial, quiet(), time()) : undefined
  }

  return async () => {
    // Who follows a run of theirs is not heard of meanwhile.
    const isTheirs = (await isTaken(scene)) || (runs.busy && !quiet().left)
    if (isTheirs || time() < since) since = time()
    const at = await due()
    if (at === undefined) return { next: looksEvery, troubles: [] }
    const left = at - time()
    if (isTheirs || left > 0 || runs.busy) return { next: Math.max(atMost, Math.min(left, looksEvery)) }
    const failure = await ownRun(
      runs,
      'go back from a trial that nobody kept',
      async (run, emit, stop) => {
        // Somebody may have come in between, and given it more time.
        if (((await due()) ?? Infinity) > time() || (await isTaken(scene))) return
        await work.goBack(run, emit, stop)
        say('went back from a trial that nobody kept')
      },
      signal,
    )
    return failure === undefined ? { next: looksEvery, troubles: [] } : { next: again, troubles: [failure] }
  }
}
