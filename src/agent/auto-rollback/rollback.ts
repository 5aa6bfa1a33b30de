import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { LedgerResource } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { stages } from '../../contract/stage.ts'
import type { ProvisionalChange } from '../../contract/provisional-change.ts'
import { keepCertificates } from '../../diff/keep-certificates.ts'
import { applyPlan } from '../apply/apply.ts'
import type { EmitRunEvent } from '../apply/emit-run-event.ts'
import { readLedger } from '../apply/ledger-store.ts'
import type { Host } from '../host/host.ts'

export interface RollbackOptions {
  readonly host: Host
  readonly provisional: ProvisionalChange
  readonly previousPlan: NodePlan
  readonly run: string
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}

/**
 * Applies the previous plan using only data on the host, because no operator is there to sign certificates or
 * send secrets. Certificates stay: a newer one fits both plans. Secret files stay: provisional changes do not
 * modify them. The agent release stays: an operator may have replaced it since.
 */
export async function rollBackToPreviousPlan({
  host,
  provisional,
  previousPlan,
  run,
  emit,
  signal,
}: RollbackOptions): Promise<void> {
  const plan = keepCertificates(previousPlan, await readInstalledCertificates(host))
  await applyPlan({
    host,
    plan,
    through: stages.at(-1) ?? 'network',
    secrets: new Map(),
    certificates: new Map(),
    skipOp: (op) => needsOperator(plan, op),
    command: `roll back: the provisional change ended at ${provisional.deadline} and was not confirmed`,
    run,
    emit,
    signal,
  })
}

function needsOperator({ components }: NodePlan, { target, name, action }: Op): boolean {
  if (action === 'remove') return false
  switch (target) {
    case 'certificate':
      return true
    case 'file':
      return components
        .flatMap(({ files }) => files)
        .some(({ path, content }) => path === name && content.kind === 'secret')
    case 'artifact':
      return components
        .flatMap(({ artifacts }) => artifacts)
        .some((one) => one.from === 'this-release' && `${one.name}-${one.version}` === name)
    default:
      return false
  }
}

/** Returns the certificates that the ledger lists as installed. */
async function readInstalledCertificates(host: Host): Promise<PlannedCertificate[]> {
  return ((await readLedger(host))?.resources ?? []).flatMap(toPlannedCertificate)
}

function toPlannedCertificate(thing: LedgerResource): PlannedCertificate[] {
  if (thing.target !== 'certificate') return []
  const { name, owner, keyFile, ca, subject, names, usages, lifetime } = thing
  return [{ certificateFile: name, owner, keyFile, ca, subject, names, usages, lifetime }]
}
