import { formatError } from '../kit/errors.ts'
import type { WorkResult } from '../kube/work-queue.ts'
import type { Controller, ControllerContext } from './controller.ts'

export interface ReconcilerOptions {
  /** Number of keys that are reconciled concurrently. */
  readonly workers?: number
  /** Reconciles the object of a key. It does not know which event added the key. */
  readonly reconcile: (key: string) => Promise<WorkResult>
}

/** Creates a controller that reconciles the keys of its queue. */
export function createReconciler(
  { queue, metrics, log }: Pick<ControllerContext, 'queue' | 'metrics' | 'log'>,
  { workers = 1, reconcile }: ReconcilerOptions,
): Controller {
  const results = metrics.counters('controller_runtime_reconcile_total', 'Reconciliations, by result.')
  const count = (result: string): void => results.add({ controller: queue.name, result })
  return {
    async run(signal) {
      await queue.run(
        {
          workers,
          async handle(key) {
            const workResult = await reconcile(key)
            count(workResult === undefined ? 'success' : 'requeue_after')
            return workResult
          },
          onFailure(key, error, failures) {
            count('error')
            // Repeated failures are logged only if their number is a power of two.
            if (Number.isInteger(Math.log2(failures))) {
              log(
                `${key || 'it'} failed ${failures === 1 ? 'once' : `${failures} times`}: ${formatError(error)}`,
              )
            }
          },
        },
        signal,
      )
    },
  }
}
