import type { Adapter } from '../operations/adapters.ts'
import type { FirewallRule } from '../operations/firewall.ts'
import type { HnsNetwork } from '../operations/hns.ts'
import type { HostProcess } from '../operations/processes.ts'
import type { Route } from '../operations/routes.ts'
import type { ServiceState } from '../operations/services.ts'
import type { Role } from './worker-spec.ts'

/** Where a program is, and what is beside it while it is replaced: digests, or nothing where no file is. */
export interface ProgramSeen {
  readonly target: string | undefined
  readonly staged: string | undefined
  readonly aside: string | undefined
}

/** One look at a host. */
export interface Seen {
  readonly services: ReadonlyMap<string, ServiceState>
  /** Which programs say that they are well. */
  readonly ready: ReadonlySet<Role>
  /** Which run and have said often enough that they are not well. */
  readonly unwell: ReadonlySet<Role>
  readonly programs: Readonly<Partial<Record<Role, ProgramSeen>>>
  readonly adapters: readonly Adapter[]
  readonly routes: readonly Route[]
  readonly rules: readonly FirewallRule[]
  /** Nothing while HNS does not answer. */
  readonly networks: readonly HnsNetwork[] | undefined
  /** The host's part of the pods' network, once its Node is there and has one. */
  readonly subnet: string | undefined
  /** The address that kube-proxy sends from, where one is taken for it. */
  readonly sourceAddress: string | undefined
  /** Looked for only while a service does not run, or is not well. */
  readonly processes: readonly HostProcess[]
}

/** What a worker has to know of what it did. It may be lost: all that is then done is done once too often. */
export interface WorkerMemory {
  /** Steps that were taken lately, by what they do: whoever takes one again waits longer. */
  readonly tries: Readonly<Record<string, Try>>
  /** What each service found when it was started last, and when that was. */
  readonly started: Readonly<Partial<Record<Role, { readonly basis: string; readonly at: number }>>>
  /** Since when a service has been about to stop. */
  readonly stopping: Readonly<Partial<Record<Role, number>>>
  /** Digests of files that have not changed since: to read a program takes seconds. */
  readonly digests: Readonly<Record<string, { readonly stamp: string; readonly sha256: string }>>
  /** Which routes to metadata the host had before there was a switch: those it gets back when we leave it. */
  readonly routesBefore?: readonly string[] | undefined
}

export interface Try {
  readonly count: number
  readonly last: number
}

export const noMemory: WorkerMemory = { tries: {}, started: {}, stopping: {}, digests: {} }
