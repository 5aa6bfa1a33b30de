import { type PlannedCertificate, stages } from '../../contract/component-plan.ts'
import type { LedgerResource } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import {
  type HostProvisionalChange,
  type ProvisionalChange,
  type ProvisionalState,
  provisionalStateFormat,
} from '../../contract/provisional-change.ts'
import { keepCertificates } from '../../diff/plan-resources.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { applyPlan } from '../apply/apply.ts'
import { readLedger } from '../records/ledger.ts'
import type { EmitRunEvent } from '../records/run-op.ts'
import { readAppliedPlan, readState, statePath, writeState } from '../records/state-file.ts'
import type { Host } from '../host/host.ts'

const file = 'provisional.json'

/**
 * Reads the provisional change of a host. Returns undefined if the host has no provisional change or the
 * change was confirmed. An invalid file is ignored, so it causes no rollback.
 */
async function readProvisionalState(host: Host): Promise<ProvisionalState | undefined> {
  return readState(host, file, provisionalStateFormat)
}

async function writeProvisionalState(host: Host, state: ProvisionalState): Promise<void> {
  await writeState(host, file, state)
}

async function deleteProvisionalState(host: Host): Promise<void> {
  await host.files.remove(statePath(host, file))
}

/** The provisional change of a host, and its outcome. */
export interface ProvisionalChanges {
  current(): Promise<HostProvisionalChange | undefined>
  /**
   * Returns the plan to which the host rolls back. If no provisional change is active, this is the current
   * plan.
   */
  readPreviousPlan(): Promise<NodePlan | undefined>
  /**
   * Starts a provisional change. The host rolls back to its current plan unless an operator confirms the
   * change. If the same change is already active, the plan to roll back to stays the same.
   */
  begin(provisional: ProvisionalChange): Promise<HostProvisionalChange | undefined>
  reschedule(id: string, deadline: string): Promise<HostProvisionalChange | undefined>
  confirm(id: string): Promise<HostProvisionalChange | undefined>
  /**
   * Removes the report of the last rollback. Called before another plan is applied, because the report is
   * then outdated.
   */
  forgetRolledBack(): Promise<void>
  /** Rolls back the active provisional change, if there is one. */
  rollBack(run: string, emit: EmitRunEvent, signal: AbortSignal): Promise<void>
}

const head = { apiVersion: 'hyperkube.dev/v1', kind: 'ProvisionalState' } as const

export function createProvisionalChanges(host: Host): ProvisionalChanges {
  // True during a rollback. At its end, the rollback overwrites the stored provisional change. Until then, no
  // provisional change may begin, be rescheduled or be confirmed.
  let isRollingBack = false

  const write = async (saved: ProvisionalState): Promise<HostProvisionalChange> => {
    await writeProvisionalState(host, saved)
    return toHostStatus(saved)
  }
  /** Returns the active provisional change, or undefined. Fails if the active change has another id. */
  const readActive = async (
    id: string,
  ): Promise<Extract<ProvisionalState, { state: 'provisional' }> | undefined> => {
    if (isRollingBack) throw rollingBackError()
    const saved = await readProvisionalState(host)
    if (saved?.state !== 'provisional') return undefined
    if (saved.provisional.id !== id) throw conflictError(saved.provisional)
    return saved
  }
  const readCurrent = async (): Promise<HostProvisionalChange | undefined> => {
    const saved = await readProvisionalState(host)
    return saved === undefined ? undefined : toHostStatus(saved)
  }

  return {
    current: readCurrent,
    async readPreviousPlan() {
      const saved = await readProvisionalState(host)
      return saved?.state === 'provisional' ? saved.previousPlan : readAppliedPlan(host)
    },
    async begin(provisional) {
      const previousPlan = (await readActive(provisional.id))?.previousPlan ?? (await readAppliedPlan(host))
      if (previousPlan === undefined) throw noPreviousPlanError()
      return write({ ...head, provisional, state: 'provisional', previousPlan })
    },
    async reschedule(id, deadline) {
      const saved = await readActive(id)
      return saved === undefined
        ? readCurrent()
        : write({ ...saved, provisional: { ...saved.provisional, deadline } })
    },
    async confirm(id) {
      if ((await readActive(id)) !== undefined) await deleteProvisionalState(host)
      return readCurrent()
    },
    async forgetRolledBack() {
      if ((await readProvisionalState(host))?.state === 'rolled-back') await deleteProvisionalState(host)
    },
    async rollBack(run, emit, signal) {
      isRollingBack = true
      try {
        const saved = await readProvisionalState(host)
        if (saved?.state !== 'provisional') return
        const { provisional, previousPlan } = saved
        await rollBackToPreviousPlan({ host, provisional, previousPlan, run, emit, signal })
        await write({ ...head, provisional, state: 'rolled-back', at: host.clock.now().toISOString() })
      } finally {
        isRollingBack = false
      }
    },
  }
}

function toHostStatus(saved: ProvisionalState): HostProvisionalChange {
  const { state, provisional } = saved
  return state === 'provisional' ? { ...provisional, state } : { ...provisional, state, at: saved.at }
}

function rollingBackError(): HyperkubeError {
  return new HyperkubeError('PROVISIONAL_ROLLING_BACK', 'the host is rolling back a provisional change', {
    hint: 'wait until hyperkube status reports the rollback (some minutes at most), then run the same command again',
  })
}

function conflictError({ deadline }: ProvisionalChange): HyperkubeError {
  return new HyperkubeError(
    'PROVISIONAL_CONFLICT',
    `another provisional change is active on the host until ${deadline}`,
    {
      hint: 'to keep it: hyperkube provisional confirm; to undo it now: hyperkube provisional rollback',
    },
  )
}

function noPreviousPlanError(): HyperkubeError {
  return new HyperkubeError(
    'PROVISIONAL_NO_PREVIOUS_PLAN',
    'no plan was ever applied completely: there is nothing to roll back to',
    {
      hint: 'first run it without --provisional: hyperkube up',
    },
  )
}

interface RollbackOptions {
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
async function rollBackToPreviousPlan({
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
