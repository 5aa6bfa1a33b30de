import type { Digests, Versions } from './artifacts.ts'
import type { Credentials } from './kube-api.ts'
import type { ClusterHosts } from './shape.ts'

/** Inputs with which a contender (setup tool) creates a cluster, for example empty hosts and a mirror. */
export interface SetupContext {
  readonly clusterHosts: ClusterHosts
  readonly mirror: string
  readonly digests: Digests
  readonly versions: Versions
  /** Whether the cluster gets the addons that come with hyperkube. */
  readonly addons: boolean
  /** Directory for files of the contender, such as keys; deleted with the lab. */
  readonly directory: string
}

/** Credentials with which the benchmark observes the cluster. */
export interface Access {
  readonly etcd: Credentials
  readonly api: Credentials
}

export interface Attempt {
  /** Settles when the contender has finished. */
  readonly finished: Promise<void>
  /** Resolves as soon as the credentials exist. */
  readonly access: Promise<Access>
}

/** A tool or method that turns hosts into a cluster. The benchmark compares several contenders. */
export interface Contender {
  readonly name: string
  /** Whether the contender can install addons. */
  readonly addons?: true
  /** Prepares files before the time measurement starts. */
  prepare?(context: SetupContext): Promise<void>
  begin(context: SetupContext, signal: AbortSignal): Attempt
}

/** Starts `setUp`, which reports the credentials as soon as they exist. */
export function startAttempt(setUp: (reportAccess: (access: Access) => void) => Promise<void>): Attempt {
  const access = Promise.withResolvers<Access>()
  const finished = setUp(access.resolve)
  finished.catch(access.reject)
  // Prevents an unhandled rejection when a caller awaits neither promise.
  access.promise.catch(() => undefined)
  return { finished, access: access.promise }
}
