import type { NodePlan } from '../../contract/node-plan.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { findNodeName } from '../heal/report/node-events.ts'
import type { WatchedPlan } from '../heal/watch-host.ts'
import type { Host } from '../host/host.ts'
import { createNodeClient } from '../renewal/node-api.ts'
import { runLoop, type TickResult } from '../runs/run-loop.ts'
import { readCertificateStamp } from './host-certificates.ts'
import { type HostResourceLoopDeps, runHostResourceLoop } from './host-resource-loop.ts'
import { HostRequestStore } from './request-store.ts'

export type HostResourceConnectionDeps = Omit<
  HostResourceLoopDeps,
  'client' | 'name' | 'store' | 'connectionSignal' | 'onConnectionError' | 'clock'
> & {
  readonly host: Host
  readonly plan: () => Promise<WatchedPlan | undefined>
}

/**
 * Milliseconds between checks of the plan and the node certificate. If one has changed, the connection is
 * closed, and the next connection uses the new one.
 */
const checkIntervalMs = 60_000
/**
 * First and longest delay before the next try if the cluster does not have the Host kind, in milliseconds.
 * The kind is also missing while an API server starts.
 */
const minRetryMs = 15_000
const maxRetryMs = 10 * 60_000

/**
 * Runs the host resource loop and reconnects when the plan or the node certificate changes. Does nothing on
 * hosts that are not nodes. After a failure it tries again with a growing delay.
 */
export async function runHostResourceConnection(deps: HostResourceConnectionDeps): Promise<void> {
  const { host, plan, random, log, signal } = deps
  let store: HostRequestStore | undefined
  let failureCount = 0
  const tick = async (): Promise<TickResult> => {
    const watched = await plan()
    const name = watched && findNodeName(watched.plan)
    if (watched === undefined || name === undefined) return { nextMs: checkIntervalMs, problems: [] }
    // The store is opened only once, because it holds the requests in progress.
    store ??= await HostRequestStore.open(host)
    const problem = await runConnection(deps, watched, name, store)
    failureCount = problem === undefined ? 0 : failureCount + 1
    if (problem === undefined) return { nextMs: 0, problems: [] }
    const next = Math.min(maxRetryMs, minRetryMs * 2 ** (failureCount - 1))
    // A cluster without the Host kind is not a problem of this host, so it is not reported.
    return { nextMs: next, problems: isKindMissing(problem) ? [] : [problem] }
  }
  await runLoop({
    tick,
    firstMs: minRetryMs / 3,
    retryMs: checkIntervalMs,
    clock: host.clock,
    random,
    log,
    signal,
  })
}

/**
 * Runs the loop until the connection must be rebuilt. Returns the error if the API rejects the connection.
 */
async function runConnection(
  deps: HostResourceConnectionDeps,
  { plan, digest }: WatchedPlan,
  name: string,
  store: HostRequestStore,
): Promise<unknown> {
  const { host, random, log, signal } = deps
  const closing = new AbortController()
  const connectionSignal = AbortSignal.any([signal, closing.signal])
  const stampBefore = await readNodeStamp(host, plan)
  using client = await createNodeClient(host, plan, connectionSignal)
  if (client === undefined) return undefined
  let problem: unknown
  const onConnectionError = (error: unknown): void => {
    if (!isKindMissing(error) && !isKubeError(error, 'KUBE_FORBIDDEN')) return
    problem = error
    closing.abort()
  }
  const tick = async (): Promise<TickResult> => {
    const watched = await deps.plan()
    if (watched?.digest !== digest || (await readNodeStamp(host, plan)) !== stampBefore) closing.abort()
    return { nextMs: checkIntervalMs }
  }
  await Promise.all([
    runHostResourceLoop({
      ...deps,
      client,
      name,
      store,
      connectionSignal,
      onConnectionError,
      clock: host.clock,
    }),
    runLoop({
      tick,
      firstMs: checkIntervalMs,
      retryMs: checkIntervalMs,
      clock: host.clock,
      random,
      log,
      signal: connectionSignal,
    }),
  ])
  return problem
}

/** True if the cluster does not have the Host kind. */
function isKindMissing(error: unknown): boolean {
  return isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_KIND_UNKNOWN')
}

/** Returns a stamp that changes when a certificate of the kubelet changes. */
async function readNodeStamp(host: Host, { components }: NodePlan): Promise<string> {
  const certificates = components.find(({ name }) => name === 'kubelet')?.certificates ?? []
  const stamps = await Promise.all(certificates.map(async (planned) => readCertificateStamp(host, planned)))
  return stamps.join(' ')
}
