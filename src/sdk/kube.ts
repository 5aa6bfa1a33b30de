/**
 * Client for the Kubernetes API, for controllers and other programs that must not miss a change. It retries
 * safely, watches survive any loss of connection, and a leader stops before another one begins.
 */
import { formatHostPort } from '../kit/host-port.ts'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { monotonicClock } from '../kit/monotonic-clock.ts'
import { KubeClient, type KubeClientOptions } from '../kube/client.ts'
import {
  defaultElectionTiming,
  type ElectionResult,
  type ElectionTiming,
  runElection,
} from '../kube/election.ts'
import { type KubeApiAccess, parseKubeconfig } from '../kube/kubeconfig.ts'
import type { LeaderTerm } from '../kube/leader-term.ts'
import { LeaseLock } from '../kube/lease-lock.ts'
import { createKubeLeaseStore } from '../kube/lease.ts'
import { fileExists } from '../kit/files.ts'

export { HyperkubeError } from '../kit/errors.ts'
export type { KubeClient } from '../kube/client.ts'
export type { ElectionResult, ElectionTiming } from '../kube/election.ts'
export { Informers, WatchSpec, type Informer } from '../kube/informers.ts'
export { isKubeError, KubeError, type KubeErrorCode } from '../kube/kube-error.ts'
export type { KubeApiAccess } from '../kube/kubeconfig.ts'
export type { LeaderTerm } from '../kube/leader-term.ts'
export type { ObjectChange } from '../kube/object-store.ts'
export {
  createUntypedKind,
  kubeObject,
  type Kind,
  type KubeObject,
  type Manifest,
  type NamespacedName,
} from '../kube/object.ts'
export { findObject, getObject, listObjects } from '../kube/read-objects.ts'
export { Watch, type WatchChange, type WatchOptions } from '../kube/watch.ts'
export { WorkQueue, type WorkResult } from '../kube/work-queue.ts'
export {
  applyObject,
  applyStatus,
  createObject,
  deleteKubeObject,
  evictPod,
  patchObject,
  replaceObject,
} from '../kube/write-objects.ts'

/** Options of `openKube`. */
export interface OpenKubeOptions extends Pick<KubeClientOptions, 'guard' | 'impersonate' | 'timing'> {
  /** Name of your program. It owns the fields that the client sets, and is sent as User-Agent. */
  readonly program: string
  /** Aborts all requests and watches of the client. */
  readonly signal: AbortSignal
  /**
   * Path of a kubeconfig, or servers and credentials. Default: the service account if the program runs in a
   * pod, else the file in KUBECONFIG, else ~/.kube/config.
   */
  readonly access?: string | KubeApiAccess
}

/**
 * Opens a client for the API of a cluster. It connects with the first request. A kubeconfig may contain a
 * client certificate or a token.
 */
export async function openKube({ access, ...options }: OpenKubeOptions): Promise<KubeClient> {
  const found = typeof access === 'object' ? access : await findAccess(access)
  return new KubeClient({ ...found, ...options })
}

/** Directory in which Kubernetes puts the token of a pod's service account. */
const podDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

async function findAccess(kubeconfig: string | undefined): Promise<KubeApiAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, KUBECONFIG } = process.env
  const token = join(podDirectory, 'token')
  if (kubeconfig === undefined && host !== undefined && port !== undefined && (await fileExists(token))) {
    return {
      servers: [`https://${formatHostPort(host, port)}`],
      ca: { file: join(podDirectory, 'ca.crt') },
      credentials: { token: { file: token } },
    }
  }
  const file = kubeconfig ?? (KUBECONFIG || join(homedir(), '.kube', 'config'))
  return parseKubeconfig(await readFile(file, 'utf8'), file)
}

/** Options of `elect`. */
export interface ElectOptions {
  readonly client: KubeClient
  /** Namespace and name of the Lease for which contenders compete. It is created if it does not exist. */
  readonly lease: { readonly namespace: string; readonly name: string }
  /** Name of this contender. It must be unique for each process. Default: the host name and a random id. */
  readonly identity?: string
  /** Milliseconds. The defaults are those of kube-controller-manager. */
  readonly timing?: Partial<ElectionTiming>
  /** Called when the leader changes, with the identity of the leader. */
  readonly onLeader?: (holder: string) => void
  /** Called with errors that do not end the election, such as an unreachable API. */
  readonly onError?: (error: unknown) => void
  /** Ends the election. A leader stops its work and releases the lease. */
  readonly signal: AbortSignal
}

/**
 * Waits until this process is the leader, then runs `work`. `work` must stop when `term.signal` aborts. After
 * `lost` or `stuck` the process must exit, because another leader may act already.
 */
export async function elect(
  { client, lease, identity, timing, onLeader, onError, signal }: ElectOptions,
  work: (term: LeaderTerm) => Promise<void>,
): Promise<ElectionResult> {
  const electionTiming = { ...defaultElectionTiming, ...timing }
  const contender = {
    identity: identity ?? `${hostname()}_${randomUUID()}`,
    duration: electionTiming.duration,
  }
  const lock = new LeaseLock(createKubeLeaseStore(client, lease, electionTiming.deadline), contender)
  const options = {
    timing: electionTiming,
    time: monotonicClock,
    random: Math.random,
    ...(onLeader === undefined ? {} : { onLeader }),
    ...(onError === undefined ? {} : { onError }),
  }
  return runElection(lock, options, work, signal)
}
