import type { OpTarget } from '../contract/op.ts'
import type { Stage } from '../contract/stage.ts'

/** One thing that a component has on a host. */
export interface Item {
  readonly component: string
  readonly stage: Stage
  readonly target: OpTarget
  /** By which it is found on the host: a path, a key, a name. */
  readonly name: string
  /** Of all that matters of it. */
  readonly digest: string
  /** Whether the component's service sees a change of it only after a restart. */
  readonly restart: boolean
}

/**
 * A thing as it is on the host, in the words of the plan that put it there: that plan may be gone when the thing has to
 * go too. What several components share is there once for each of them, so that it stays for the last.
 */
export interface PresentItem extends Item {
  /** Of a service; without it, it runs and has seen all there is. */
  readonly service?: {
    /** Whether it runs, and will after a reboot. */
    readonly running: boolean
    /** Names of things that have changed since it started, and that it sees only when it starts. */
    readonly unseen: readonly string[]
  }
}

/** What is at one path can be only one of them. */
const atPaths: ReadonlySet<OpTarget> = new Set(['directory', 'file', 'certificate', 'derived-file'])

/** The same for what is one and the same thing on the host, whichever component has it. */
export function thingOf({ target, name }: Pick<Item, 'target' | 'name'>): string {
  return `${atPaths.has(target) ? 'path' : target} ${name}`
}

/** In which order things come into being; they go in the reverse one. */
const targets: readonly OpTarget[] = [
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

/** Below zero when `a` comes into being before `b`. */
export function compareTargets(a: OpTarget, b: OpTarget): number {
  return targets.indexOf(a) - targets.indexOf(b)
}
