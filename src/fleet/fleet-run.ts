import { z } from 'zod'
import { healthValue } from '../contract/health.ts'
import type { Format } from '../contract/versioned.ts'

/** Health of a whole cluster. */
export const clusterHealth = healthValue.extract(['healthy', 'degraded', 'unhealthy', 'unknown'])
export type ClusterHealth = z.infer<typeof clusterHealth>

export const clusterFailure = z.strictObject({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
})
export type ClusterFailure = z.infer<typeof clusterFailure>

export const clusterRun = z.strictObject({
  /**
   * `changed`: the change is made, and the health gate of the wave is missing. `degraded`: the cluster is less
   * healthy than before the change.
   */
  state: z.enum(['pending', 'running', 'changed', 'done', 'failed', 'degraded']),
  /** Health before the first change. */
  before: clusterHealth.optional(),
  /** Health at the gate of the wave. */
  after: clusterHealth.optional(),
  startedAt: z.iso.datetime().optional(),
  endedAt: z.iso.datetime().optional(),
  /** Number of changes on hosts. */
  changes: z.int().min(0).optional(),
  failure: clusterFailure.optional(),
})
export type ClusterRun = z.infer<typeof clusterRun>

/** Commands that change a fleet in waves. */
export const fleetCommands = ['up', 'upgrade', 'certs', 'backup'] as const
export type FleetCommand = (typeof fleetCommands)[number]

export const fleetWaves = z.array(z.strictObject({ title: z.string(), clusters: z.array(z.string()) }))

const fleetRun = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('FleetRun'),
  id: z.uuid(),
  fleet: z.string(),
  command: z.enum(fleetCommands),
  /** Kubernetes version of an upgrade. */
  to: z.string().optional(),
  /** Who runs it: user, machine and process. */
  holder: z.string(),
  state: z.enum(['running', 'stopped', 'interrupted', 'done']),
  startedAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  waves: fleetWaves,
  parallel: z.int().min(1),
  maxFailed: z.int().min(0),
  pauseMs: z.int().min(0),
  clusters: z.record(z.string(), clusterRun),
})
/** A rollout over a fleet. It is saved before and after each change, so another process can resume it. */
export type FleetRun = z.infer<typeof fleetRun>

export const fleetRunFormat: Format<FleetRun> = {
  kind: 'FleetRun',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: fleetRun },
  older: [],
}

/** Changes the entry of one cluster. */
export function updateCluster(run: FleetRun, name: string, patch: Partial<ClusterRun>): FleetRun {
  const previous = run.clusters[name] ?? { state: 'pending' }
  return { ...run, clusters: { ...run.clusters, [name]: { ...previous, ...patch } } }
}

/** The parts of a rollout that decide what happens next. */
export type WaveProgress = Pick<FleetRun, 'waves' | 'parallel' | 'maxFailed' | 'clusters'>

export function findClusterRun(run: Pick<FleetRun, 'clusters'>, name: string): ClusterRun {
  return run.clusters[name] ?? { state: 'pending' }
}

/**
 * Prepares a run to be resumed. Changed clusters keep their state. Clusters that failed, became degraded or
 * were interrupted are tried again. Their health from before the first change is kept.
 */
export function resumeRun(run: FleetRun, holder: string): FleetRun {
  return { ...run, holder, state: 'running', clusters: resetClusters(run.clusters) }
}

/** Sets all clusters that are not changed back to `pending`. Keeps their health from before the first change. */
export function resetClusters(clusters: FleetRun['clusters']): FleetRun['clusters'] {
  return Object.fromEntries(
    Object.entries(clusters).map(([name, cluster]): [string, ClusterRun] => {
      if (cluster.state === 'done' || cluster.state === 'changed') return [name, cluster]
      const { before } = cluster
      return [name, { state: 'pending', ...(before === undefined ? {} : { before }) }]
    }),
  )
}
