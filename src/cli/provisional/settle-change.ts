import type { Claim } from '../../contract/request.ts'
import { formatDuration } from '../../kit/duration.ts'
import type { PlannedProvisionalChange } from '../../lifecycle/auto-rollback/plan-provisional.ts'
import {
  confirmProvisionalChange,
  rollBackProvisionalChange,
} from '../../lifecycle/auto-rollback/provisional-requests.ts'
import { reportSingleStep } from '../../lifecycle/event-stream.ts'
import { type CommandContext, exitCodes, type GlobalOptions } from '../command.ts'
import { choosePrompts, Interrupted } from '../prompts.ts'
import { type OperatorLockDeps, withOperatorLock } from '../up/operator-lock.ts'
import type { UpRunResult } from '../up/up-run-result.ts'
import type { UpDeps } from '../up/up-deps.ts'
import { formatRollbackTime, type ProvisionalEnd } from './text.ts'

/**
 * `left`: the operator interrupted the prompt, and the change stays provisional. `over`: the time has passed.
 * `no-prompt`: prompts are not possible.
 */
type ProvisionalDecision = 'confirm' | 'rollback' | 'left' | 'over' | 'no-prompt'

/** Interval at which the prompt is repeated with the remaining time. */
const repeatMs = 60_000

/** Asks whether to confirm a provisional change, until its time has passed. */
export async function promptConfirmation(
  { openPrompts, signal, now }: Pick<CommandContext, 'openPrompts' | 'signal' | 'now'>,
  options: GlobalOptions,
  until: Date,
): Promise<ProvisionalDecision> {
  for (;;) {
    const remainingMs = until.getTime() - now().getTime()
    if (remainingMs <= 0) return 'over'
    const tick = AbortSignal.timeout(Math.min(remainingMs, repeatMs))
    const prompts = choosePrompts({ openPrompts, signal: AbortSignal.any([signal, tick]) }, options)
    if (prompts === undefined) return 'no-prompt'
    try {
      const message = `confirm the change? ${formatDuration(remainingMs)} are left; no rolls back now, Ctrl-C leaves it provisional`
      return (await prompts.confirm({ message, fallback: false })) ? 'confirm' : 'rollback'
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      if (!tick.aborted || signal.aborted) return 'left'
    }
  }
}

/** IDs of provisional changes, by host name. */
export type ProvisionalIds = ReadonlyMap<string, { readonly id: string }>

/** Asks whether to confirm a change after it was applied on all hosts, if prompts are possible. */
export async function settleProvisionalChange(
  deps: UpDeps,
  { id, durationMs, hosts }: PlannedProvisionalChange,
  result: UpRunResult,
): Promise<UpRunResult> {
  const { context, options, flags } = deps
  const until = new Date(context.now().getTime() + durationMs)
  const ids = new Map([...hosts.keys()].map((host) => [host, { id }]))
  const buildResult = (state: ProvisionalEnd['state'], code: UpRunResult['code']): UpRunResult => ({
    ...result,
    code,
    provisional: { state, until: formatRollbackTime(until) },
  })
  const lockDeps = { ...deps, forceUnlock: flags.forceUnlock }
  switch (flags.canPrompt ? await promptConfirmation(context, options, until) : 'no-prompt') {
    case 'confirm':
      await confirmAll(lockDeps, ids)
      return buildResult('confirmed', result.code)
    case 'rollback':
      await rollbackAll(lockDeps, ids)
      return buildResult('rolling-back', exitCodes.changesPending)
    case 'over':
      return buildResult('rolling-back', exitCodes.changesPending)
    case 'left':
      return buildResult('provisional', exitCodes.interrupted)
    default:
      return buildResult('provisional', result.code)
  }
}

/** Confirms the change on all hosts. Returns the hosts that had rolled back already. */
export async function confirmAll(
  deps: OperatorLockDeps,
  changes: ProvisionalIds,
): Promise<readonly string[]> {
  return sendToHosts(deps, 'confirm', 'confirm the provisional change', changes, confirmProvisionalChange)
}

/**
 * Starts the rollback as if the time had passed. Each host rolls back by itself in its time slot, so the
 * command need not wait.
 */
export async function rollbackAll(deps: OperatorLockDeps, changes: ProvisionalIds): Promise<void> {
  await sendToHosts(
    deps,
    'rollback',
    'hosts roll back, one after the other',
    changes,
    rollBackProvisionalChange,
  )
}

async function sendToHosts<T>(
  deps: OperatorLockDeps,
  step: string,
  title: string,
  changes: ProvisionalIds,
  send: (
    changes: ProvisionalIds,
    agents: OperatorLockDeps['connected']['sessions'],
    claim: Claim,
  ) => Promise<T>,
): Promise<T> {
  const { connected, run } = deps
  return withOperatorLock(deps, async ({ claim }, signal) =>
    reportSingleStep({ emit: run.emit, signal }, { step, title, hosts: [...changes.keys()] }, async () =>
      send(changes, connected.sessions, claim),
    ),
  )
}
