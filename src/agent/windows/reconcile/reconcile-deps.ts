import type { Clock } from '../../host/clock.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import type { WorkerRole, WorkerServiceSpec } from './worker-spec.ts'

/** Everything that reconciling a worker needs from its caller. */
export interface ReconcileDeps {
  readonly host: WindowsOperations
  readonly clock: Pick<Clock, 'now'>
  /**
   * Ends a round between two steps. An operation in progress is ended by the signal of the host operations.
   */
  readonly signal: AbortSignal
  /** Returns true if a program reports that it is healthy. */
  isReady(role: WorkerRole): Promise<boolean>
  /** Running programs that count as unhealthy; undefined if the caller does not count failed probes. */
  readonly unhealthy?: ReadonlySet<WorkerRole>
  /** Reads the pod subnet of the host from its Node. Returns undefined while this is not possible. */
  subnet(): Promise<string | undefined>
  readonly addresses: SourceAddresses
  /** Writes a complete copy of a program to a path. The caller of `fetch` checks the digest. */
  fetch(program: WorkerServiceSpec['program'], to: string): Promise<void>
}

/** Manages the source address of kube-proxy, which is reserved in the store of host-local. */
export interface SourceAddresses {
  findReserved(network: string): Promise<string | undefined>
  /** Reserves an address, or returns the one that is already reserved. */
  reserve(network: string, subnet: string): Promise<string>
  release(network: string): Promise<void>
}
