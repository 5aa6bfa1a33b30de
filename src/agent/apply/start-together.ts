import type { Op } from '../../contract/op.ts'
import { withStarted } from '../records/ledger.ts'
import { beginOp, endOp, failOp } from '../records/run-op.ts'
import type { PlanRun } from './apply-op.ts'
import {
  awaitStarts,
  beginServiceStart,
  type BegunServiceStart,
  enableAndReload,
  requestStarts,
  type ServiceStarts,
  type StartsResult,
} from './start-service.ts'
import { stopApiServers } from './stop-api-servers.ts'

/** A start that was requested from the service manager. */
export interface RequestedStart {
  readonly op: Op
  readonly starting: BegunServiceStart
}

/**
 * Requests the start of services in one transaction and does not wait for them. `later` are the ops of the
 * run that follow.
 */
export async function requestTogether(
  run: PlanRun,
  serviceStarts: ServiceStarts,
  later: readonly Op[],
): Promise<readonly RequestedStart[]> {
  const { host } = run
  const begun: RequestedStart[] = []
  try {
    for (const { op, start } of serviceStarts) {
      await beginOp(run, op)
      begun.push({ op, starting: beginServiceStart(start, host.clock.now().getTime()) })
    }
    await enableAndReload(
      host,
      serviceStarts.map(({ start }) => start),
    )
    await stopApiServers(run, serviceStarts, later)
    await requestStarts(
      host,
      begun.map(({ starting }) => starting),
    )
    return begun
  } catch (error) {
    // All services share one request. If it fails, the op of the first service reports the error.
    const first = begun.length === serviceStarts.length ? begun.shift() : undefined
    const failure = first === undefined ? error : await failOp(run, first.op, error)
    await interruptStarts(run, begun)
    throw failure
  }
}

/** Waits until all requested services run. Throws if one of them failed. */
export async function awaitTogether(run: PlanRun, requested: readonly RequestedStart[]): Promise<void> {
  const { host, emit, signal } = run
  const watched = requested.map(({ op, starting }) => ({ watch: starting.watch, component: op.component }))
  let ended: StartsResult
  try {
    ended = await awaitStarts(host, watched, emit, signal)
  } catch (error) {
    await interruptStarts(run, requested)
    throw error
  }
  await endStarts(run, requested, ended)
}

/**
 * Ends the ops of requested starts as interrupted. Called if a run fails or is aborted, because it then does
 * not wait for these starts.
 */
export async function interruptStarts(run: PlanRun, requested: readonly RequestedStart[]): Promise<void> {
  for (const { op } of requested) await endOp(run, op, 'interrupted').catch(() => undefined)
}

async function endStarts(
  run: PlanRun,
  requested: readonly RequestedStart[],
  { running, failed }: StartsResult,
): Promise<void> {
  const { ledgerStore } = run
  let failure: Error | undefined
  for (const { op, starting } of requested) {
    if (running.has(op.name)) {
      await ledgerStore.save(withStarted(ledgerStore.ledger, op.name))
      await endOp(run, op, starting.changed ? 'done' : 'unchanged')
    } else if (failed?.unit === op.name) {
      failure = await failOp(run, op, failed.error)
    } else {
      await endOp(run, op, 'interrupted')
    }
  }
  if (failure !== undefined) throw failure
}
