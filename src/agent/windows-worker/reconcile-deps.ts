import type { Clock } from '../host/clock.ts'
import type { SourceAddresses } from '../host/host.ts'
import type { WindowsOperations } from '../host/windows-operations/table.ts'
import type { WorkerRole, WorkerServiceSpec } from './worker.ts'

/** Everything that reconciling a worker needs from its caller. */
export interface ReconcileDeps {
  readonly host: WindowsOperations
  readonly clock: Pick<Clock, 'now'>
  /**
   * Ends a round of reconciliation between two steps. The signal of the host operations ends an operation
   * that is in progress.
   */
  readonly signal: AbortSignal
  /** Returns true if a program reports that it is healthy. */
  isReady(role: WorkerRole): Promise<boolean>
  /**
   * Running programs that failed their probes often enough to count as unhealthy; undefined if the caller
   * does not count failed probes.
   */
  readonly unhealthy?: ReadonlySet<WorkerRole>
  /** Reads the pod subnet of the host from its Node. Returns undefined while this is not possible. */
  subnet(): Promise<string | undefined>
  readonly addresses: SourceAddresses
  /** Writes a complete copy of a program to a path. The caller of `fetch` checks the digest. */
  fetch(program: WorkerServiceSpec['program'], to: string): Promise<void>
}
