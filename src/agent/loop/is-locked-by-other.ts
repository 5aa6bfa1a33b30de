import type { Host } from '../host/host.ts'
import type { HostWork } from '../server/dispatch.ts'
import { isHeld } from '../operator-lock/operator-lock.ts'
import type { ClaimStore } from '../operator-lock/operator-lock-store.ts'

export interface TakenScene {
  readonly host: Pick<Host, 'clock'>
  readonly work: Pick<HostWork, 'restoring'>
  readonly claims: Pick<ClaimStore, 'held'>
}

/** Whether somebody else decides now what is done on this host. */
export async function isTaken({ host, work, claims }: TakenScene): Promise<boolean> {
  const restoring = (await work.restoring()) !== undefined
  // Last: nobody can have come between this and what is done next.
  return restoring || isHeld(claims.held, host.clock.now().getTime())
}
