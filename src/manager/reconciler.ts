import { describe } from '../kit/errors.ts'
import type { Outcome } from '../kube/work-queue.ts'
import type { Controller, Scene } from './controller.ts'

export interface Reconciling {
  /** How many keys at once. */
  readonly workers?: number
  /** Brings what the key stands for nearer to what it should be, whatever it was that happened to it. */
  readonly reconcile: (key: string) => Promise<Outcome>
}

/** A controller that works through its queue. */
export function reconciling(
  { queue, metrics, log }: Pick<Scene, 'queue' | 'metrics' | 'log'>,
  { workers = 1, reconcile }: Reconciling,
): Controller {
  const results = metrics.counters(
    'controller_runtime_reconcile_total',
    'Looks at a key, by what came of them.',
  )
  const count = (result: string): void => results.add({ controller: queue.name, result })
  return {
    async run(signal) {
      await queue.run(
        {
          workers,
          async handle(key) {
            const outcome = await reconcile(key)
            count(outcome === undefined ? 'success' : 'requeue_after')
            return outcome
          },
          onFailure(key, error, failures) {
            count('error')
            // What goes on and on is told less and less.
            if (Number.isInteger(Math.log2(failures))) {
              log(
                `${key || 'it'} failed ${failures === 1 ? 'once' : `${failures} times`}: ${describe(error)}`,
              )
            }
          },
        },
        signal,
      )
    },
  }
}
