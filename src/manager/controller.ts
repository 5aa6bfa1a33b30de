import type { ManagerSettings } from '../contract/manager-settings.ts'
import type { Metrics } from '../kit/metrics.ts'
import type { Time } from '../kit/monotonic-clock.ts'
import type { KubeClient } from '../kube/client.ts'
import type { EventRecorder } from '../kube/events.ts'
import type { Informer } from '../kube/informer.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Rule } from '../kube/rbac.ts'
import type { Source } from '../kube/watch-spec.ts'
import type { Term } from '../kube/leader-term.ts'
import type { Some } from '../kube/object-store.ts'
import type { WorkQueue } from '../kube/work-queue.ts'

/** A row of the table. Names and aliases are for ever: people have them in their settings, and identities bear them. */
export interface ControllerRow {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  /** Whether `*` means it, too. */
  readonly byDefault: boolean
  /** What it learns of through the informers that all share; it may learn of nothing else. */
  readonly watches: readonly Watchable[]
  /** What it may do itself, and no more: its identity is made from this. */
  readonly rights: readonly Right[]
  readonly build: (scene: Scene) => Controller
}

export type Watchable = Pick<Source<KubeObject, Some>, 'name' | 'right'>

/** As RBAC writes it; in one namespace, where one is given, or everywhere. */
export interface Right extends Rule {
  readonly namespace?: string
}

/** All that a controller has to work with. It is made anew for each term. */
export interface Scene {
  /** Under the controller's own identity. Nothing is sent once the term is over. */
  readonly client: KubeClient
  readonly informer: <K extends KubeObject, T extends Some, I extends string>(
    source: Source<K, T, I>,
  ) => Informer<T, I>
  readonly queue: WorkQueue
  readonly events: EventRecorder
  readonly metrics: Metrics
  /** In whose name to ask anything of hosts. */
  readonly term: Term
  readonly time: Time
  /** What clocks on walls say. */
  readonly now: () => Date
  readonly settings: ManagerSettings
  readonly log: (line: string) => void
}

export interface Controller {
  /** Begins when all that it watches is known, and ends with the term; nothing else ends it. */
  run(signal: AbortSignal): Promise<void>
}
