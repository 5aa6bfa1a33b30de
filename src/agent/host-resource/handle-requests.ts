import type { HostRequest, HostResult } from '../../contract/host-resource.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import { toPrintable } from '../../kit/text.ts'
import type { Clock } from '../host/clock.ts'
import { type RequestDecision, decideNextRequest } from './decide-next-request.ts'
import { type RequestHandlers, runRequestHandler } from './request-handlers.ts'
import type { HostRequestStore } from './request-store.ts'

export interface HostRequestDeps {
  readonly store: HostRequestStore
  readonly handlers: RequestHandlers
  readonly clock: Pick<Clock, 'now'>
  /** Highest generation of the operator lock that this host has seen. */
  readonly generation: () => number
  /** True while an operator holds the lock of this host. */
  readonly isLocked: () => Promise<boolean>
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/** Handles the next request. Returns true if a request was handled; more may follow. */
export async function handleNextRequest(
  deps: HostRequestDeps,
  requests: readonly unknown[],
): Promise<boolean> {
  const { store, signal } = deps
  const isLocked = await deps.isLocked()
  const { highestFence, next } = decideNow(deps, requests, isLocked)
  await store.recordFence(highestFence)
  if (next === undefined || signal.aborted) return false
  await store.begin(next, new Set(requests.flatMap(readRequestId)))
  await store.end(await runRequest(deps, next))
  return true
}

/**
 * Lists the results of all current requests and of the latest withdrawn requests. A withdrawn request is no
 * longer in the API object.
 */
export function listRequestResults(deps: HostRequestDeps, requests: readonly unknown[]): HostResult[] {
  const requestedIds = new Set(requests.flatMap(readRequestId))
  const ended = deps.store.state.started.flatMap(({ result }) => result ?? [])
  const withdrawn = new Set(ended.filter(({ id }) => !requestedIds.has(id)).slice(-maxWithdrawnResults))
  const reported = ended.filter((result) => requestedIds.has(result.id) || withdrawn.has(result))
  return [...reported, ...decideNow(deps, requests, true).refused]
}

/** Maximum number of reported results of withdrawn requests. */
const maxWithdrawnResults = 5

function decideNow(
  { store, clock, generation }: HostRequestDeps,
  requests: readonly unknown[],
  isLocked: boolean,
): RequestDecision {
  const now = clock.now().getTime()
  return decideNextRequest({ requests, state: store.state, now, generation: generation(), isLocked })
}

async function runRequest(
  { handlers, clock, log, signal }: HostRequestDeps,
  { id, action }: HostRequest,
): Promise<HostResult> {
  const at = (): string => clock.now().toISOString()
  try {
    const details = await runRequestHandler(handlers, action, signal)
    log(`${id}: done`)
    return { id, outcome: 'done', at: at(), details: details.slice(0, maxDetailLines).map(toDetailLine) }
  } catch (error) {
    const outcome = signal.aborted ? 'interrupted' : 'failed'
    const hint = error instanceof HyperkubeError && error.hint !== undefined ? [error.hint] : []
    const details = [formatError(error), ...hint].map(toDetailLine)
    log(`${id}: ${outcome}: ${details.join(' -> ')}`)
    return { id, outcome, at: at(), details }
  }
}

/** Maximum number of detail lines. Details are short because they are stored in an API object. */
const maxDetailLines = 20
const maxLineLength = 500

function toDetailLine(text: string): string {
  return toPrintable(createSecretMask().text(text)).slice(0, maxLineLength)
}

function readRequestId(request: unknown): string[] {
  const id: unknown = Reflect.get(Object(request), 'id')
  return typeof id === 'string' ? [id] : []
}
