import type { Ledger } from '../../../contract/ledger.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { findResource, LedgerStore, readLedger, withStarted } from '../../records/ledger.ts'
import type { ManagedResource } from '../../resources/resource-handler.ts'
import { type OpRunContext, runOp } from '../../records/run-op.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { HealStep } from '../decision/decision-input.ts'
import { restartService } from './restart-service.ts'

/** Probe code for a process that runs but does not respond. */
const unresponsiveCode = 'HEALTH_NO_RESPONSE'

/**
 * Restarts the service of a component as a journaled op. Fails if an operator stopped the service with
 * hyperkube.
 */
export async function restartComponent(
  host: LinuxHost,
  plan: NodePlan,
  { component, because, code }: HealStep,
  run: OpRunContext,
): Promise<readonly string[]> {
  const unit = findUnit(plan, component)
  if (unit === undefined) return [`${component} has no service`]
  const op: Op = { ...unit, component, action: 'restart', target: 'service', because: [because] }
  let details: readonly string[] = []
  await runOp(run, op, async () => {
    // An unreadable ledger must not prevent healing, so it counts as missing.
    const ledger = await readLedger(host).catch(() => undefined)
    if (findService(ledger, unit.name)?.started === false) throw stoppedError(unit.name, component)
    const isHung = code === unresponsiveCode
    details = await restartService(host, { unit: unit.name, component, isHung }, run.signal)
    if (ledger !== undefined) await recordStart(host, ledger, unit.name)
    return 'done'
  })
  return details
}

export function findUnit(
  { components }: NodePlan,
  component: string,
): Pick<Op, 'name' | 'stage'> | undefined {
  const one = components.find(({ name }) => name === component)
  return one?.service?.supervisor === 'systemd' ? { name: one.service.name, stage: one.stage } : undefined
}

/**
 * Records in the ledger that the service has read all pending changes. If the write fails, the next apply
 * restarts the service unnecessarily.
 */
async function recordStart(host: LinuxHost, ledger: Ledger, unit: string): Promise<void> {
  if ((findService(ledger, unit)?.pendingChanges ?? []).length === 0) return
  await new LedgerStore(host, ledger).save(withStarted(ledger, unit)).catch(() => undefined)
}

function findService(ledger: Ledger | undefined, name: string): ManagedResource<'service'> | undefined {
  const resource = ledger && findResource(ledger, { target: 'service', name })
  return resource?.target === 'service' ? resource : undefined
}

function stoppedError(unit: string, component: string): HyperkubeError {
  return new HyperkubeError(
    'SERVICE_FAILED',
    `${unit} was stopped by an operator, so healing does not start it`,
    {
      component,
      hint: 'in the directory of cluster.yml: hyperkube up',
    },
  )
}
