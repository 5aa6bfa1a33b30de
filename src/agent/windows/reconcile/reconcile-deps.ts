import type { Clock } from '../../host/clock.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import type { WorkerRole, WorkerServiceSpec } from './worker-spec.ts'

/** Everything that reconciling a worker needs from its caller. */
export interface ReconcileDeps {
  readonly host: WindowsOperations
  readonly clock: Pick<Clock, 'now'>
  /** Ends a round between two steps. The signal of the host ends the operation in progress. */
  readonly signal: AbortSignal
  /** Whether a program reports that it is healthy. */
  isReady(role: WorkerRole): Promise<boolean>
  /** Roles that failed their probes often enough to count as unhealthy, if the caller counts failures. */
  readonly unhealthy?: ReadonlySet<WorkerRole>
  /** Pod subnet of the host from its Node; undefined while it cannot be read. */
  subnet(): Promise<string | undefined>
  readonly addresses: SourceAddresses
  /** Writes a complete copy of a program to a path. The caller checks the digest. */
  fetch(program: WorkerServiceSpec['program'], to: string): Promise<void>
}

/** Source address of kube-proxy, reserved in the store of host-local. */
export interface SourceAddresses {
  findReserved(network: string): Promise<string | undefined>
  /** Returns the same address as long as it is reserved. */
  reserve(network: string, subnet: string): Promise<string>
  release(network: string): Promise<void>
}
