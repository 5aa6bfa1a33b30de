import type { Adapter } from '../operations/adapters.ts'
import type { FirewallRule } from '../operations/firewall.ts'
import type { HnsNetwork } from '../operations/hns.ts'
import type { WindowsProcess } from '../operations/processes.ts'
import type { WindowsRoute } from '../operations/routes.ts'
import type { ServiceState } from '../operations/services.ts'
import type { WorkerRole } from './worker-spec.ts'

/** Digests of a program, its staged copy and its previous version; undefined where no file exists. */
export interface ProgramObservation {
  readonly target: string | undefined
  readonly staged: string | undefined
  readonly previous: string | undefined
}

/** One observation of a host. */
export interface WorkerObservation {
  readonly services: ReadonlyMap<string, ServiceState>
  /** Programs that report that they are healthy. */
  readonly ready: ReadonlySet<WorkerRole>
  /** Running programs that failed their probes often enough to count as unhealthy. */
  readonly unhealthy: ReadonlySet<WorkerRole>
  readonly programs: Readonly<Partial<Record<WorkerRole, ProgramObservation>>>
  readonly adapters: readonly Adapter[]
  readonly routes: readonly WindowsRoute[]
  readonly rules: readonly FirewallRule[]
  /** Undefined while HNS does not respond. */
  readonly networks: readonly HnsNetwork[] | undefined
  /** Pod subnet of the host, once its Node exists and has one. */
  readonly subnet: string | undefined
  /** Reserved source address of kube-proxy, if there is one. */
  readonly sourceAddress: string | undefined
  /** Read only while a service does not run or is not healthy. */
  readonly processes: readonly WindowsProcess[]
}

/** What a worker remembers of its own steps. If this state is lost, some steps are done once too often. */
export interface ReconcileState {
  /** Recent steps by key. A step that is repeated waits longer. */
  readonly tries: Readonly<Record<string, StepAttempt>>
  /** The basis of each service's last start, and when that was. */
  readonly started: Readonly<Partial<Record<WorkerRole, { readonly basis: string; readonly at: number }>>>
  /** Since when a service has been in the state Stop Pending. */
  readonly stopping: Readonly<Partial<Record<WorkerRole, number>>>
  /** Digests of files that have not changed since. Reading a program takes seconds. */
  readonly digests: Readonly<Record<string, { readonly stamp: string; readonly sha256: string }>>
  /** Metadata routes that the host had before a switch was created. Removing hyperkube restores them. */
  readonly routesBefore?: readonly string[] | undefined
}

export interface StepAttempt {
  readonly count: number
  readonly last: number
}

export const emptyReconcileState: ReconcileState = { tries: {}, started: {}, stopping: {}, digests: {} }
