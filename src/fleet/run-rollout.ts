import { createMutex, mapWithConcurrency } from '../kit/concurrency.ts'
import { toFailure } from '../kit/errors.ts'
import { decideNext, isStopped, isWorse } from './decide-next.ts'
import {
  type ClusterFailure,
  type ClusterHealth,
  type ClusterRun,
  findClusterRun,
  type FleetRun,
  updateCluster,
} from './fleet-run.ts'

export type ChangeResult =
  | { readonly outcome: 'changed'; readonly changes: number }
  | { readonly outcome: 'failed'; readonly failure: ClusterFailure }
  | { readonly outcome: 'interrupted' }

/** Progress of a rollout, for its log and the terminal. */
export type RolloutEvent =
  | { readonly type: 'wave-started'; readonly wave: number }
  | { readonly type: 'wave-ended'; readonly wave: number; readonly isPassed: boolean }
  | { readonly type: 'gate-started'; readonly wave: number }
  | { readonly type: 'pause-started'; readonly wave: number }
  | { readonly type: 'cluster-started'; readonly wave: number; readonly cluster: string }
  | {
      readonly type: 'cluster-ended'
      readonly wave: number
      readonly cluster: string
      readonly result: ClusterRun
    }

export interface RolloutDeps {
  /** Reads the health of a cluster before its change. Must not throw for a cluster that is unreachable. */
  readonly observe: (cluster: string) => Promise<ClusterHealth>
  readonly change: (cluster: string) => Promise<ChangeResult>
  /** Waits until a changed cluster is at least as healthy as before, and returns its health at the end. */
  readonly settle: (cluster: string, before: ClusterHealth) => Promise<ClusterHealth>
  /** Saves the run durably. If this fails, the rollout starts nothing more. */
  readonly save: (run: FleetRun) => Promise<void>
  readonly pause: (milliseconds: number) => Promise<void>
  readonly report: (event: RolloutEvent) => void
  readonly now: () => Date
  readonly signal: AbortSignal
}

/**
 * Changes the clusters of a run wave by wave. The state is saved before a cluster is changed and after it, so
 * a killed run can be resumed. A cluster that throws counts as failed and does not affect others.
 */
export async function runRollout(initial: FleetRun, deps: RolloutDeps): Promise<FleetRun> {
  const { now, report, signal } = deps
  let run = initial
  /** The wave in progress; undefined between two waves. */
  let currentWave: number | undefined
  const running = new Map<string, Promise<void>>()
  /** Errors of clusters that run beside the loop: the state could not be saved. */
  const saveErrors: unknown[] = []
  const exclusively = createMutex()
  // The new state counts at once, so that nothing starts while the failure of a cluster is being saved.
  const update = async (change: (run: FleetRun) => FleetRun): Promise<void> => {
    run = { ...change(run), updatedAt: now().toISOString() }
    await exclusively(async () => deps.save(run))
  }
  const patch = async (cluster: string, change: Partial<ClusterRun>): Promise<void> =>
    update((current) => updateCluster(current, cluster, change))
  const isOver = (): boolean => signal.aborted || isStopped(run) || saveErrors.length > 0

  const endWave = (isPassed: boolean): void => {
    if (currentWave !== undefined) report({ type: 'wave-ended', wave: currentWave, isPassed })
    currentWave = undefined
  }
  const beginWave = (wave: number): void => {
    if (wave === currentWave) return
    endWave(true)
    report({ type: 'wave-started', wave })
    currentWave = wave
  }
  const tryChange = async (cluster: string): Promise<ChangeResult> =>
    deps.change(cluster).catch((error: unknown) => ({ outcome: 'failed', failure: toFailure(error) }))
  const changeCluster = async (cluster: string, wave: number): Promise<void> => {
    report({ type: 'cluster-started', wave, cluster })
    if (findClusterRun(run, cluster).before === undefined)
      await patch(cluster, { before: await deps.observe(cluster).catch(() => 'unknown' as const) })
    // Another cluster may have failed during the observation.
    const result: ChangeResult = isOver() ? { outcome: 'interrupted' } : await tryChange(cluster)
    await patch(cluster, toClusterRun(result, now()))
    report({ type: 'cluster-ended', wave, cluster, result: findClusterRun(run, cluster) })
  }
  const start = async (cluster: string, wave: number): Promise<void> => {
    beginWave(wave)
    await patch(cluster, { state: 'running', startedAt: now().toISOString() })
    // Another cluster may have failed while the state was saved.
    if (isOver()) await patch(cluster, { state: 'pending' })
    else
      running.set(
        cluster,
        changeCluster(cluster, wave)
          .catch((error: unknown) => saveErrors.push(error))
          .then(() => void running.delete(cluster)),
      )
  }
  const checkWave = async (clusters: readonly string[], wave: number): Promise<void> => {
    beginWave(wave)
    report({ type: 'gate-started', wave })
    await mapWithConcurrency(run.parallel, clusters, async (cluster) => {
      const { before = 'unknown' } = findClusterRun(run, cluster)
      const after = await deps.settle(cluster, before).catch(() => 'unknown' as const)
      if (signal.aborted) return
      await patch(cluster, toCheckedRun(before, after))
      report({ type: 'cluster-ended', wave, cluster, result: findClusterRun(run, cluster) })
    })
    if (signal.aborted) return
    endWave(!isStopped(run))
    const hasNext = !isStopped(run) && wave + 1 < run.waves.length
    if (!hasNext || run.pauseMs === 0) return
    report({ type: 'pause-started', wave })
    await deps.pause(run.pauseMs)
  }
  try {
    for (;;) {
      if (saveErrors.length > 0) throw saveErrors[0]
      if (signal.aborted && running.size === 0) break
      const next = signal.aborted ? ({ type: 'wait' } as const) : decideNext(run)
      if (next.type === 'end') {
        endWave(next.state === 'done')
        await update((current) => ({ ...current, state: next.state }))
        return run
      }
      if (next.type === 'start') await start(next.cluster, next.wave)
      else if (next.type === 'gate') await checkWave(next.clusters, next.wave)
      else await Promise.race(running.values())
    }
  } finally {
    // If the state cannot be saved, clusters that are being changed still end in an orderly way.
    await Promise.allSettled(running.values())
  }
  await update((current) => ({ ...current, state: 'interrupted' }))
  return run
}

function toClusterRun(result: ChangeResult, now: Date): Partial<ClusterRun> {
  const endedAt = now.toISOString()
  switch (result.outcome) {
    case 'changed':
      return { state: 'changed', endedAt, changes: result.changes }
    case 'failed':
      return { state: 'failed', endedAt, failure: result.failure }
    default:
      return { state: 'pending' }
  }
}

/** Compares the health of a cluster at the gate with that before the change. */
export function toCheckedRun(before: ClusterHealth, after: ClusterHealth): Partial<ClusterRun> {
  if (!isWorse(before, after)) return { state: 'done', after }
  const failure = {
    code: 'FLEET_CLUSTER_DEGRADED',
    message: `the cluster was ${before} before the change and is ${after} now`,
    hint: 'hyperkube doctor',
  }
  return { state: 'degraded', after, failure }
}
