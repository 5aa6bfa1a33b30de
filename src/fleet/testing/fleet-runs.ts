import type { FleetRun } from '../fleet-run.ts'
import type { FleetWave } from '../waves.ts'

/** Builds a run that has not started, for tests. */
export function buildTestRun(
  waves: readonly FleetWave[],
  limits: Partial<Pick<FleetRun, 'parallel' | 'maxFailed'>> = {},
): FleetRun {
  const names = waves.flatMap(({ clusters }) => clusters)
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'FleetRun',
    id: '5a3b0f52-6f0f-4d0f-9a53-2f6f8f0f2b11',
    fleet: 'retail',
    command: 'up',
    holder: 'me@here (process 1)',
    state: 'running',
    startedAt: '2026-11-18T08:00:00.000Z',
    updatedAt: '2026-11-18T08:00:00.000Z',
    waves: waves.map((wave) => ({ ...wave, clusters: [...wave.clusters] })),
    parallel: 5,
    maxFailed: 0,
    pauseMs: 0,
    ...limits,
    clusters: Object.fromEntries(names.map((name) => [name, { state: 'pending' }])),
  }
}
