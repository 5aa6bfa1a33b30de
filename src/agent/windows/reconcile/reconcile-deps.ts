import type { Clock } from '../../host/clock.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import type { Role, WorkerService } from './worker-spec.ts'

/** All that a worker is brought up through. */
export interface WorkerEdges {
  readonly host: WindowsOperations
  readonly clock: Pick<Clock, 'now'>
  /** Ends a round between two steps; what is under way ends by the signal of its host. */
  readonly signal: AbortSignal
  /** Whether a program says itself that it is well. */
  isReady(role: Role): Promise<boolean>
  /** Which have said often enough that they are not well, where somebody counts that. */
  readonly unwell?: ReadonlySet<Role>
  /** The host's part of the pods' network, as its Node says it; nothing as long as that cannot be known. */
  subnet(): Promise<string | undefined>
  readonly addresses: SourceAddresses
  /** Brings a whole copy of a program to a path. What came of it is seen by its digest. */
  fetch(wanted: WorkerService['program'], to: string): Promise<void>
}

/** The address that kube-proxy sends from, in the book of host-local. */
export interface SourceAddresses {
  reserved(network: string): Promise<string | undefined>
  /** Answers with the same one as long as it is taken. */
  reserve(network: string, subnet: string): Promise<string>
  release(network: string): Promise<void>
}
