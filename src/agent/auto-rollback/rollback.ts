import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { LedgerThing } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { stages } from '../../contract/stage.ts'
import type { Trial } from '../../contract/provisional-change.ts'
import { keepingCertificates } from '../../diff/keep-certificates.ts'
import { apply } from '../apply/apply.ts'
import type { Emit } from '../apply/emit-run-event.ts'
import { readLedger } from '../apply/ledger-store.ts'
import type { Host } from '../host/host.ts'

export interface GoBackOptions {
  readonly host: Host
  readonly trial: Trial
  readonly former: NodePlan
  readonly run: string
  readonly emit: Emit
  readonly signal: AbortSignal
}

/**
 * Makes the host what it was before the trial, with what it has: nobody is near to sign certificates or to bring secrets.
 * Certificates stay as they are, as a newer one is good for both plans; so do files with secrets, which no trial changes,
 * and hyperkube itself, which whoever looks at the cluster may have replaced meanwhile.
 */
export async function goBack({ host, trial, former, run, emit, signal }: GoBackOptions): Promise<void> {
  const plan = keepingCertificates(former, await certificatesOn(host))
  await apply({
    host,
    plan,
    through: stages.at(-1) ?? 'network',
    secrets: new Map(),
    certificates: new Map(),
    leaveOut: (op) => needsOperator(plan, op),
    command: `go back: the trial ended at ${trial.deadline} and was not kept`,
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

/** As they were put there last. */
async function certificatesOn(host: Host): Promise<PlannedCertificate[]> {
  return ((await readLedger(host))?.things ?? []).flatMap(placeOf)
}

function placeOf(thing: LedgerThing): PlannedCertificate[] {
  if (thing.target !== 'certificate') return []
  const { name, owner, keyFile, authority, subject, names, usages, lifetime } = thing
  return [{ certificateFile: name, owner, keyFile, authority, subject, names, usages, lifetime }]
}
