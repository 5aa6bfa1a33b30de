import { type ClusterHealth, type ClusterRun, findClusterRun, type WaveProgress } from './fleet-run.ts'

/** What a rollout does next. */
export type NextStep =
  | { readonly type: 'start'; readonly cluster: string; readonly wave: number }
  /** Wait until a running cluster ends. */
  | { readonly type: 'wait' }
  /** Check the health of the changed clusters of a wave. */
  | { readonly type: 'gate'; readonly clusters: readonly string[]; readonly wave: number }
  | { readonly type: 'end'; readonly state: 'done' | 'stopped' }

/**
 * Decides the next step of a rollout. A wave starts when all clusters of earlier waves have passed their gate.
 * Nothing starts after more clusters have failed than allowed.
 */
export function decideNext(run: WaveProgress): NextStep {
  const countOf = (...states: readonly ClusterRun['state'][]): number =>
    Object.values(run.clusters).filter(({ state }) => states.includes(state)).length
  const runningCount = countOf('running')
  if (isStopped(run)) return runningCount > 0 ? { type: 'wait' } : { type: 'end', state: 'stopped' }
  const wave = run.waves.findIndex(({ clusters }) => clusters.some((name) => !isSettled(run, name)))
  const names = run.waves[wave]?.clusters
  if (names === undefined) return { type: 'end', state: 'done' }
  const pending = names.find((name) => findClusterRun(run, name).state === 'pending')
  if (pending !== undefined && runningCount < run.parallel) return { type: 'start', cluster: pending, wave }
  if (runningCount > 0) return { type: 'wait' }
  const clusters = names.filter((name) => findClusterRun(run, name).state === 'changed')
  return { type: 'gate', clusters, wave }
}

/** True if more clusters failed or became degraded than the run allows. */
export function isStopped({ clusters, maxFailed }: Pick<WaveProgress, 'clusters' | 'maxFailed'>): boolean {
  const failed = Object.values(clusters).filter(({ state }) => state === 'failed' || state === 'degraded')
  return failed.length > maxFailed
}

function isSettled(run: WaveProgress, name: string): boolean {
  const { state } = findClusterRun(run, name)
  return state === 'done' || state === 'failed' || state === 'degraded'
}

const ranks: Readonly<Record<ClusterHealth, number>> = { healthy: 0, degraded: 1, unknown: 2, unhealthy: 2 }

/** True if a cluster is less healthy than before. */
export function isWorse(before: ClusterHealth, after: ClusterHealth): boolean {
  return ranks[after] > ranks[before]
}
