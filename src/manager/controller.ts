import type { ManagerSettings } from '../contract/manager-settings.ts'
import type { Metrics } from '../kit/metrics.ts'
import type { MonotonicClock } from '../kit/monotonic-clock.ts'
import type { KubeClient } from '../kube/client.ts'
import type { EventRecorder } from '../kube/events.ts'
import type { Informer } from '../kube/informer.ts'
import type { KubeObject } from '../kube/object.ts'
import type { RbacRule } from '../kube/rbac.ts'
import type { WatchSpec } from '../kube/informers.ts'
import type { LeaderTerm } from '../kube/leader-term.ts'
import type { DefinedValue } from '../kube/object-store.ts'
import type { WorkQueue } from '../kube/work-queue.ts'

/**
 * One controller of the table. Names and aliases are permanent: users have them in their settings, and
 * identities contain them.
 */
export interface ControllerDefinition {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  /** Whether `*` includes it. */
  readonly byDefault: boolean
  /** The shared informers that it uses. It cannot get others. */
  readonly watches: readonly Watchable[]
  /** RBAC rules of its identity. It can do nothing else. */
  readonly rules: readonly ControllerRule[]
  readonly build: (context: ControllerContext) => Controller
}

export type Watchable = Pick<WatchSpec<KubeObject, DefinedValue>, 'name' | 'requiredAccess'>

/** An RBAC rule, for one namespace if one is given, otherwise for the whole cluster. */
export interface ControllerRule extends RbacRule {
  readonly namespace?: string
}

/** Everything that a controller works with. A new one is built for each term. */
export interface ControllerContext {
  /** Acts under the controller's own identity. Sends nothing after the term has ended. */
  readonly client: KubeClient
  readonly getInformer: <K extends KubeObject, T extends DefinedValue, I extends string>(
    source: WatchSpec<K, T, I>,
  ) => Informer<T, I>
  readonly queue: WorkQueue
  readonly events: EventRecorder
  readonly metrics: Metrics
  /** The leader term in whose name hosts get requests. */
  readonly term: LeaderTerm
  readonly time: MonotonicClock
  /** Wall clock. */
  readonly now: () => Date
  readonly settings: ManagerSettings
  readonly log: (line: string) => void
}

export interface Controller {
  /** Starts when all its informers are synced and ends with the term. It must not end earlier. */
  run(signal: AbortSignal): Promise<void>
}
