import type { OpTarget } from '../contract/op.ts'
import type { Stage } from '../contract/stage.ts'

/** One resource that a component owns on a host. */
export interface PlanResource {
  readonly component: string
  readonly stage: Stage
  readonly target: OpTarget
  /** Identifies the resource on the host: a path, a key, a name. */
  readonly name: string
  /** Digest of everything that matters about the resource. */
  readonly digest: string
  /** True if the component's service reads a change only after a restart. */
  readonly restart: boolean
}

/**
 * A resource on the host, described as in the plan that created it, because that plan may be gone at removal.
 * A shared resource appears once per owner, so that it stays until the last owner is gone.
 */
export interface PresentResource extends PlanResource {
  /** State of a service; absent means that it runs and has read all changes. */
  readonly service?: {
    /** True if it runs and is enabled at boot. */
    readonly running: boolean
    /** Names of resources that changed since the service started, and that it reads only at start. */
    readonly pendingChanges: readonly string[]
  }
}

/** Targets that are identified by a path. A path holds only one of them. */
const pathTargets: ReadonlySet<OpTarget> = new Set(['directory', 'file', 'certificate', 'derived-file'])

/** Key of a resource on the host, equal for all components that share it. */
export function resourceKey({ target, name }: Pick<PlanResource, 'target' | 'name'>): string {
  return `${pathTargets.has(target) ? 'path' : target} ${name}`
}

/** Order of creation; removal uses the reverse order. */
const creationOrder: readonly OpTarget[] = [
  'user',
  'module',
  'sysctl',
  'firewall-rule',
  'directory',
  'artifact',
  'image',
  'file',
  'certificate',
  'derived-file',
  'service',
]

/** Negative if `a` is created before `b`. */
export function compareTargets(a: OpTarget, b: OpTarget): number {
  return creationOrder.indexOf(a) - creationOrder.indexOf(b)
}
