import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { Ledger, LedgerThing } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { OpTarget } from '../../contract/op.ts'
import type { Secret } from '../../pki/secret.ts'
import type { Host } from '../host/host.ts'
import type { Emit } from './emit-run-event.ts'

export type Thing<T extends OpTarget> = Extract<LedgerThing, { target: T }>
/** What the ledger has of everything. */
export type Head = Pick<LedgerThing, 'name' | 'digest' | 'of'>

/** How a thing is found, held against what was written down of it. */
export type State =
  | 'absent'
  | 'as-written'
  | {
      readonly drift: string
      /** Whether nobody has changed it, and only its time has come. */
      readonly due?: boolean
    }

/** All that is needed to look. Without a plan some questions are not asked. */
export interface Scene<H extends Host = Host> {
  readonly host: H
  readonly ledger: Ledger
  readonly plan?: NodePlan
  /** Whether all certificates are to be renewed, also those that are good for long. */
  readonly renew?: boolean
  /** Digests by name, of images that were looked up beforehand because there are many to look at. */
  readonly images?: ReadonlyMap<string, string> | undefined
}

/** All that is needed to make something. */
export interface Work<H extends Host = Host> extends Scene<H> {
  readonly plan: NodePlan
  readonly component: ComponentPlan
  readonly head: Head
  readonly secrets: ReadonlyMap<string, Secret>
  /** PEM, by the path of the certificate's file. */
  readonly certificates: ReadonlyMap<string, string>
  readonly emit: Emit
  readonly signal: AbortSignal
}

export interface Made<T extends OpTarget> {
  /** False when it was so already. */
  readonly changed: boolean
  readonly thing: Thing<T>
}

export interface Removed {
  readonly changed: boolean
  /** Paths of data that is still there. */
  readonly left: readonly string[]
  /** What could not go yet, because somebody still uses it: it stays written down, and is taken away another time. */
  readonly held?: readonly string[]
}

/** How one kind of thing is looked at, made so, and taken away. Each of it is harmless when done twice. */
export interface Target<T extends OpTarget, Wish, H extends Host = Host> {
  readonly target: T
  /** What a component's plan says of the thing of a name. */
  wish(component: ComponentPlan, name: string): Wish | undefined
  inspect(thing: Thing<T>, scene: Scene<H>): Promise<State>
  /**
   * What is written down before a thing is made for the first time, where it matters later how the host was before us:
   * who is cut over it would not know any more.
   */
  foresee?(wish: Wish, work: Work<H>): Promise<Thing<T> | undefined>
  /** Looks first. `former` is what was written down before, by this plan or another. */
  make(wish: Wish, work: Work<H>, former: Thing<T> | undefined): Promise<Made<T>>
  remove(thing: Thing<T>, scene: Scene<H>): Promise<Removed>
}

/** The same for a thing of which only the ledger knows what kind it is. */
export interface AnyTarget {
  inspect(thing: LedgerThing, scene: Scene): Promise<State>
  foresee(work: Work): Promise<LedgerThing | undefined>
  make(
    work: Work,
    former: LedgerThing | undefined,
  ): Promise<{ readonly changed: boolean; readonly thing: LedgerThing }>
  remove(thing: LedgerThing, scene: Scene): Promise<Removed>
}

/** A kind that every host knows. */
export function anyTarget<T extends OpTarget, Wish>(kind: Target<T, Wish>): AnyTarget {
  return targetOf(kind, (host) => host)
}

/** One that only hosts of some system have. */
export function targetOf<T extends OpTarget, Wish, H extends Host>(
  kind: Target<T, Wish, H>,
  own: (host: Host) => H,
): AnyTarget {
  const ownScene = (scene: Scene): Scene<H> => ({ ...scene, host: own(scene.host) })
  const ownWork = (work: Work): Work<H> => ({ ...work, host: own(work.host) })
  const isOne = (thing: LedgerThing): thing is Thing<T> => thing.target === kind.target
  const one = (thing: LedgerThing): Thing<T> => {
    if (isOne(thing)) return thing
    throw new Error(`${thing.target} ${thing.name} is no ${kind.target}`)
  }
  const wished = ({ component, head }: Work): Wish => {
    const wish = kind.wish(component, head.name)
    if (wish !== undefined) return wish
    throw new Error(`the plan of ${component.name} has no ${kind.target} ${head.name}`)
  }
  return {
    inspect: async (thing, scene) => kind.inspect(one(thing), ownScene(scene)),
    foresee: async (work) => kind.foresee?.(wished(work), ownWork(work)),
    make: async (work, former) => kind.make(wished(work), ownWork(work), former && one(former)),
    remove: async (thing, scene) => kind.remove(one(thing), ownScene(scene)),
  }
}

export const removed: Removed = { changed: true, left: [] }
export const notThere: Removed = { changed: false, left: [] }
