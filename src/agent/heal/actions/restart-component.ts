import type { Ledger } from '../../../contract/ledger.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { findThing, withStarted } from '../../apply/ledger.ts'
import { LedgerBook, readLedger } from '../../apply/ledger-store.ts'
import { type OpRun, runOp } from '../../apply/run-op.ts'
import type { Thing } from '../../apply/resource-handler.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { HealStep } from '../decision/heal-step.ts'
import { restartService } from './restart-service.ts'

/** What the probe of a process that is alive and silent says. */
const silent = 'HEALTH_NO_ANSWER'

/** As an op of the journal. What an operator has stopped through us stays so. */
export async function restartComponent(
  host: LinuxHost,
  plan: NodePlan,
  { component, because, code }: HealStep,
  run: OpRun,
): Promise<readonly string[]> {
  const unit = unitOf(plan, component)
  if (unit === undefined) return [`${component} has no service`]
  const op: Op = { ...unit, component, action: 'restart', target: 'service', because: [because] }
  let details: readonly string[] = []
  await runOp(run, op, async () => {
    // One that cannot be read keeps nobody from being healed.
    const ledger = await readLedger(host).catch(() => undefined)
    if (serviceIn(ledger, unit.name)?.started === false) throw stopped(unit.name, component)
    const isHung = code === silent
    details = await restartService(host, { unit: unit.name, component, isHung }, run.signal)
    if (ledger !== undefined) await noteStart(host, ledger, unit.name)
    return 'done'
  })
  return details
}

export function unitOf({ components }: NodePlan, component: string): Pick<Op, 'name' | 'stage'> | undefined {
  const one = components.find(({ name }) => name === component)
  return one?.service?.supervisor === 'systemd' ? { name: one.service.name, stage: one.stage } : undefined
}

/** It has read all there is. Where that cannot be written down, it starts once more with the next plan. */
async function noteStart(host: LinuxHost, ledger: Ledger, unit: string): Promise<void> {
  if ((serviceIn(ledger, unit)?.unseen ?? []).length === 0) return
  await new LedgerBook(host, ledger).keep(withStarted(ledger, unit)).catch(() => undefined)
}

function serviceIn(ledger: Ledger | undefined, name: string): Thing<'service'> | undefined {
  const thing = ledger && findThing(ledger, { target: 'service', name })
  return thing?.target === 'service' ? thing : undefined
}

function stopped(unit: string, component: string): HyperkubeError {
  return new HyperkubeError(
    'SERVICE_FAILED',
    `${unit} was stopped by an operator, and waits for the next plan`,
    {
      component,
      hint: 'where cluster.yml is: hyperkube up',
    },
  )
}
