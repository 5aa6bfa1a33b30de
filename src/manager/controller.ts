import type { ManagerSettings } from '../contract/manager-settings.ts'
import { formatError } from '../kit/errors.ts'
import type { Metrics } from '../kit/metrics.ts'
import type { MonotonicClock } from '../kit/monotonic-clock.ts'
import type { KubeClient } from '../kube/client.ts'
import type { EventRecorder } from '../kube/events.ts'
import type { Informer, WatchSpec } from '../kube/informers.ts'
import type { LeaderTerm } from '../kube/leader-term.ts'
import type { DefinedValue } from '../kube/object-store.ts'
import type { KubeObject, Manifest } from '../kube/object.ts'
import type { RbacRule } from '../kube/rbac.ts'
import type { WorkQueue, WorkResult } from '../kube/work-queue.ts'

/**
 * Definition of one controller. Its name and aliases must never change, because cluster settings and
 * Kubernetes user names contain them.
 */
export interface ControllerDefinition {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  /** True if the selector `*` includes the controller. */
  readonly byDefault: boolean
  /** Watches whose informers the controller may use. */
  readonly watches: readonly Watchable[]
  /**
   * RBAC rules of the Kubernetes user that the controller impersonates. This user has no other permissions.
   */
  readonly rules: readonly ControllerRule[]
  /** CustomResourceDefinitions that `up` installs if the controller is enabled. */
  readonly crds?: readonly Manifest[]
  readonly build: (context: ControllerContext) => Controller
}

export type Watchable = Pick<WatchSpec<KubeObject, DefinedValue>, 'name' | 'requiredAccess'>

/** An RBAC rule. It applies to one namespace, or to the whole cluster if `namespace` is undefined. */
export interface ControllerRule extends RbacRule {
  readonly namespace?: string
}

/** Interfaces and settings for a controller. A new context is built for each leader term. */
export interface ControllerContext {
  /** Client that impersonates the controller's own user. It sends nothing after the term has ended. */
  readonly client: KubeClient
  readonly getInformer: <K extends KubeObject, T extends DefinedValue, I extends string>(
    source: WatchSpec<K, T, I>,
  ) => Informer<T, I>
  readonly queue: WorkQueue
  readonly events: EventRecorder
  readonly metrics: Metrics
  /** The current leader term. Requests to hosts carry its fence. */
  readonly term: LeaderTerm
  readonly time: MonotonicClock
  /** Wall clock. */
  readonly now: () => Date
  readonly settings: ManagerSettings
  readonly log: (line: string) => void
}

export interface Controller {
  /** Runs the controller after its informers are synced. Must not return before the term ends. */
  run(signal: AbortSignal): Promise<void>
}

interface ReconcilerOptions {
  /** Number of keys that are reconciled concurrently. */
  readonly workers?: number
  /** Reconciles the object with the given key. The function does not learn which event added the key. */
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
            // Repeated failures are logged only if their number is a power of two, so that they do not fill
            // the log.
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
