import { hash } from 'node:crypto'
import type { Stage } from '../contract/component-plan.ts'
import type { OpTarget } from '../contract/op.ts'

/** One resource that a component owns on a host. */
export interface PlanResource {
  readonly component: string
  readonly stage: Stage
  readonly target: OpTarget
  /** Identifies the resource on the host, for example by its path. */
  readonly name: string
  /** Digest of the resource's content. A different digest means that the resource must be changed. */
  readonly digest: string
  /** True if the component's service must restart to read a change of the resource. */
  readonly restart: boolean
}

/**
 * A resource on the host, described as in the plan that created it. A shared resource has one entry per
 * owner, so that only the removal of its last owner removes it.
 */
export interface PresentResource extends PlanResource {
  /** State of a service. Absent means that the service runs and has read all changes. */
  readonly service?: {
    /** True if the service runs and is enabled at boot. */
    readonly running: boolean
    /** Names of resources that changed since the service started. The service must restart to read them. */
    readonly pendingChanges: readonly string[]
  }
}

/** Kinds of resources that are identified by a path. There is at most one resource at a path. */
const pathTargets: ReadonlySet<OpTarget> = new Set(['directory', 'file', 'certificate', 'derived-file'])

/** Returns the key of a resource on the host. It is equal for all components that share the resource. */
export function resourceKey({ target, name }: Pick<PlanResource, 'target' | 'name'>): string {
  return `${pathTargets.has(target) ? 'path' : target} ${name}`
}

/** Order in which the resources of a component are created. Removal uses the reverse order. */
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
  // The other tool's program runs until everything for its successor is in place, and starts again as soon as
  // the successor is removed.
  'predecessor',
  'service',
]

/** Negative if resources of kind `a` are created before those of kind `b`. */
export function compareTargets(a: OpTarget, b: OpTarget): number {
  return creationOrder.indexOf(a) - creationOrder.indexOf(b)
}

/** Returns the SHA-256 digest of JSON content. The order of object keys does not matter. */
export function computeDigest(content: unknown): string {
  return hash('sha256', JSON.stringify(sortKeys(content)))
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, child]) => [key, sortKeys(child)]))
}
