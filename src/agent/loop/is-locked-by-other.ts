import type { Host } from '../host/host.ts'
import type { HostOperations } from '../runs/host-operations.ts'
import { isLockHeld } from '../operator-lock/operator-lock.ts'
import type { OperatorLockStore } from '../operator-lock/operator-lock-store.ts'

export interface LockedByOtherDeps {
  readonly host: Pick<Host, 'clock'>
  readonly work: Pick<HostOperations, 'activeRestore'>
  readonly claims: Pick<OperatorLockStore, 'held'>
}

/** True if an operator holds the lock or an etcd restore is active, so the agent must not act by itself. */
export async function isLockedByOther({ host, work, claims }: LockedByOtherDeps): Promise<boolean> {
  const restoring = (await work.activeRestore()) !== undefined
  // Checked last, without an await behind it: no operator can take the lock between this check and the next
  // action.
  return restoring || isLockHeld(claims.held, host.clock.now().getTime())
}
