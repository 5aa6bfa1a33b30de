import type { WatchedPlan } from '../../heal/watch-plan.ts'
import type { Host } from '../../host/host.ts'
import type { RequestHandlers } from '../request-handlers.ts'
import { createCaptureLogsHandler } from './capture-logs.ts'
import { createCheckHandler } from './check.ts'
import { createDefragmentHandler, type DefragmentDeps } from './defragment-etcd.ts'
import { type RenewNow, createRenewHandler } from './renew-certificates.ts'
import { type TakeSnapshotDeps, createTakeSnapshotHandler } from './take-snapshot.ts'

export interface RequestHandlerDeps extends Omit<DefragmentDeps, 'host'>, TakeSnapshotDeps {
  readonly host: Host
  readonly plan: () => Promise<WatchedPlan | undefined>
  readonly renew: RenewNow
}

/**
 * Creates the handlers for all actions that can be requested of a host. A handler fails with HOST_UNSUPPORTED
 * if the host does not support its action.
 */
export function createRequestHandlers(deps: RequestHandlerDeps): RequestHandlers {
  const { host, healer, renew } = deps
  return {
    check: createCheckHandler(healer),
    'capture-logs': createCaptureLogsHandler({ host, plan: async () => (await deps.plan())?.plan }),
    'renew-certificates': createRenewHandler(renew),
    'defragment-etcd': createDefragmentHandler(deps),
    'take-snapshot': createTakeSnapshotHandler(deps),
  }
}
