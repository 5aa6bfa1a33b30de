import type { Digests, Versions } from './artifacts.ts'
import type { Credentials } from './kube-api.ts'
import type { Cast } from './shape.ts'

/** Everything a way of setting up a cluster is given: hosts with nothing on them, and a mirror. */
export interface Ground {
  readonly cast: Cast
  readonly mirror: string
  readonly digests: Digests
  readonly versions: Versions
  /** Whether the cluster shall have the addons that come with hyperkube. */
  readonly addons: boolean
  /** A place for keys while they are made: it goes with the lab. */
  readonly directory: string
}

/** How an observer reaches what was set up. */
export interface Access {
  readonly etcd: Credentials
  readonly api: Credentials
}

export interface Attempt {
  /** Settles when the contender has nothing left to do. */
  readonly finished: Promise<void>
  /** Answers as soon as the credentials exist. */
  readonly access: Promise<Access>
}

/** A way of turning hosts into a cluster. */
export interface Contender {
  readonly name: string
  /** It can be asked for addons, too. */
  readonly addons?: true
  /** What is there before the clock starts, as keys and digests are for all of them. */
  prepare?(ground: Ground): Promise<void>
  begin(ground: Ground, signal: AbortSignal): Attempt
}

/** Runs a set-up that says along the way how to reach what it makes. */
export function attempt(setUp: (known: (access: Access) => void) => Promise<void>): Attempt {
  const access = Promise.withResolvers<Access>()
  const finished = setUp(access.resolve)
  finished.catch(access.reject)
  // Whoever awaits neither must not bring the process down.
  access.promise.catch(() => undefined)
  return { finished, access: access.promise }
}
