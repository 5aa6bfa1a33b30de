import { isDeepStrictEqual } from 'node:util'
import type { HostStatus } from '../../contract/host-resource.ts'
import type { KubeClient } from '../../kube/client.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { Watch, type WatchTiming } from '../../kube/watch.ts'
import { applyStatus } from '../../kube/write-objects.ts'
import type { Clock } from '../host/clock.ts'
import { createWakeup, runLoop, type TickResult } from '../runs/run-loop.ts'
import { handleNextRequest, type HostRequestDeps, listRequestResults } from './handle-requests.ts'

/** Status of the host without the fields that are derived from requests or set by controllers. */
export type HostReport = Omit<
  HostStatus,
  'heartbeat' | 'generation' | 'highestFence' | 'results' | 'conditions'
>

export interface HostResourceLoopDeps extends HostRequestDeps {
  /** Client that authenticates as the node of this host. */
  readonly client: KubeClient
  /** Name of the node, which is also the name of the host's API object. */
  readonly name: string
  readonly readReport: (signal: AbortSignal) => Promise<HostReport>
  readonly clock: Clock
  /** Ends the connection to the API. A request in progress continues until `signal` aborts it. */
  readonly connectionSignal: AbortSignal
  /** Receives connection errors. The connection is retried in any case. */
  readonly onConnectionError?: (error: unknown) => void
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly timing?: Partial<WatchTiming>
}

/**
 * Milliseconds between status checks. Requests are checked at the same interval even if no watch event
 * arrives.
 */
const intervalMs = 15_000

/** Field manager of the status fields that the agent owns. */
const fieldManager = 'hyperkube-agent'

/**
 * Handles requests from the host's API object and writes the host's status to the object, until aborted.
 * Requests and status writes run independently, so a long request does not delay the heartbeat.
 */
export async function runHostResourceLoop(deps: HostResourceLoopDeps): Promise<void> {
  const { client, name, clock, random, log, connectionSignal, onConnectionError, timing } = deps
  const watch = new Watch(client, hostKind, {
    fields: `metadata.name=${name}`,
    select: ({ spec, status, metadata }) => ({
      ...{ requests: spec.requests ?? [], status, version: metadata.resourceVersion },
    }),
    ...(timing === undefined ? {} : { timing }),
    ...(onConnectionError === undefined ? {} : { onError: onConnectionError }),
  })
  const [requestWakeup, reportWakeup] = [createWakeup(clock), createWakeup(clock)]
  const readOwn = () => watch.current.get(name)
  /** The last written status, until the watch has delivered it. */
  let lastWritten:
    | { readonly status: HostStatus; readonly version: string | undefined; readonly at: number }
    | undefined

  const handleRequests = async (): Promise<TickResult> => {
    requestWakeup.consume()
    const wasHandled = await handleNextRequest(deps, readOwn()?.requests ?? [])
    reportWakeup.wake()
    return { nextMs: wasHandled ? 0 : intervalMs, problems: [] }
  }
  const reportStatus = async (): Promise<TickResult> => {
    reportWakeup.consume()
    const object = readOwn()
    // Only an operator creates the object, because the agent does not know the name of its host in
    // cluster.yml.
    if (object === undefined) return { nextMs: intervalMs, problems: [] }
    const now = clock.now()
    const { highestFence } = deps.store.state
    // Results are read before the rest of the status, so the status already shows the effect of every
    // reported result.
    const results = listRequestResults(deps, object.requests)
    const status: HostStatus = {
      ...(await deps.readReport(connectionSignal)),
      heartbeat: now.toISOString(),
      generation: deps.generation(),
      ...(highestFence === undefined ? {} : { highestFence }),
      results,
    }
    if (lastWritten !== undefined && now.getTime() - lastWritten.at > intervalMs) lastWritten = undefined
    if (isStatusDue(lastWritten?.status ?? object.status, status, now.getTime())) {
      const { apiVersion, kind } = hostKind
      const manifest = { apiVersion, kind, metadata: { name }, status }
      const { metadata } = await applyStatus(client, manifest, {
        force: true,
        manager: fieldManager,
        signal: connectionSignal,
      })
      lastWritten = { status, version: metadata.resourceVersion, at: now.getTime() }
    }
    return { nextMs: intervalMs, problems: [] }
  }
  const runTicks = async (tick: () => Promise<TickResult>, wakeup: typeof requestWakeup): Promise<void> =>
    runLoop({
      ...{ tick, firstMs: 0, retryMs: intervalMs, random, log, signal: connectionSignal },
      clock: { now: () => clock.now(), pause: async (ms, until) => wakeup.pause(ms, until) },
    })
  const watchChanges = async (): Promise<void> => {
    for await (const change of watch.changes(connectionSignal)) {
      if (change.type === 'deleted' || readOwn()?.version === lastWritten?.version) lastWritten = undefined
      requestWakeup.wake()
      reportWakeup.wake()
    }
  }
  await Promise.all([
    watchChanges(),
    runTicks(handleRequests, requestWakeup),
    runTicks(reportStatus, reportWakeup),
  ])
}

/**
 * Milliseconds between heartbeats. If controllers get no heartbeat for more than twice this time, they treat
 * the agent as silent.
 */
export const heartbeatIntervalMs = 2 * 60_000

/** True if the status must be written again: its content has changed, or the heartbeat is due. */
export function isStatusDue(previous: HostStatus, current: HostStatus, nowMs: number): boolean {
  if (!isDeepStrictEqual(withoutTimes(previous), withoutTimes(current))) return true
  const age = nowMs - Date.parse(previous.heartbeat ?? '')
  // A negative age means that the clock was set back. The status is then written again.
  return !(age >= 0 && age < heartbeatIntervalMs)
}

/**
 * Returns the status without the heartbeat and the conditions. The conversion through JSON removes undefined
 * fields, so that they equal missing fields.
 */
function withoutTimes({ heartbeat: _heartbeat, conditions: _conditions, ...rest }: HostStatus): unknown {
  return JSON.parse(JSON.stringify(rest))
}
