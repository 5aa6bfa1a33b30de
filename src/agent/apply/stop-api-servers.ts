import type { Op } from '../../contract/op.ts'
import type { PlanRun } from './apply-op.ts'
import { type ServiceStarts, stopService, willRestart } from './start-service.ts'

/**
 * Stops an API server before its etcd member restarts, if this run restarts that API server anyway. Otherwise
 * requests in flight would have to wait for the member. The stop is graceful, so clients move to other API
 * servers.
 */
export async function stopApiServers(
  { host, plan, emit, signal }: PlanRun,
  starts: ServiceStarts,
  later: readonly Op[],
): Promise<void> {
  const restarted = new Set(
    starts.flatMap(({ op, start }) =>
      op.stage === 'etcd' && willRestart(start) && start.before.active === 'active' ? [op.component] : [],
    ),
  )
  const dependents = new Set(
    plan.components.flatMap(({ name, needs }) => (needs.some((need) => restarted.has(need)) ? [name] : [])),
  )
  const restarts = later.filter(({ action, component }) => action === 'restart' && dependents.has(component))
  for (const { name, component } of restarts) await stopService(host, name, component, emit, signal)
}
