import type { Host } from '../host/host.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import { isLockHeld } from '../operator-lock/operator-lock.ts'
import type { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'

export interface LockedByOtherDeps {
  readonly host: Pick<Host, 'clock'>
  readonly work: Pick<HostOperations, 'activeRestore'>
  readonly claims: Pick<OperatorLockStore, 'held'>
}

/**
 * True if an operator holds the lock or an etcd restore is active. The agent must then start nothing by
 * itself.
 */
export async function isLockedByOther({ host, work, claims }: LockedByOtherDeps): Promise<boolean> {
  const restoring = (await work.activeRestore()) !== undefined
  // The lock is checked last and without an await, so that no operator can take it between this check and the
  // caller's next action.
  return restoring || isLockHeld(claims.held, host.clock.now().getTime())
}
