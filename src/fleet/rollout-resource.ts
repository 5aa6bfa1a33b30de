import { z } from 'zod'
import { rolloutSettings } from '../spec/fleet.ts'
import { clusterLabels } from '../spec/scalars.ts'
import { documentGeneration } from './desired-document.ts'
import { clusterRun, fleetWaves } from './fleet-run.ts'

const count = z.int().min(0)

export const clusterSetSpec = z.object({
  /** Labels that a Cluster object must have. Without labels the set contains all clusters. */
  selector: clusterLabels.default({}),
})
export const clusterSetStatus = z.object({
  clusters: count,
  healthy: count,
  degraded: count,
  unhealthy: count,
  /** Clusters that do not report. */
  unknown: count,
  /** Clusters that have applied their newest document. */
  updated: count,
})
export type ClusterSetStatus = z.infer<typeof clusterSetStatus>

export const rolloutSpec = z.object({
  /** Name of the ClusterSet whose clusters apply their newest documents. */
  clusterSet: z.string().min(1),
  canary: clusterLabels.optional(),
  waves: rolloutSettings.shape.waves,
  /** Clusters that change at the same time. */
  parallel: z.int().min(1).max(10_000).default(50),
  maxFailed: rolloutSettings.shape.maxFailed,
  pauseSeconds: z.int().min(0).max(86_400).default(0),
  /** `each-wave`: a wave starts only when an Approval object for it exists. */
  approval: z.enum(['none', 'each-wave']).default('none'),
  /** Time in which a cluster must have applied its document. */
  timeoutSeconds: z.int().min(1).max(86_400).default(1800),
  /** Time in which a changed cluster must be as healthy as before. */
  settleSeconds: z.int().min(0).max(86_400).default(180),
  /** A higher number tries failed clusters again after a stop. */
  attempt: z.int().min(1).default(1),
})
export type RolloutSpec = z.infer<typeof rolloutSpec>

const managedClusterRun = clusterRun.extend({
  /** Generation that the cluster applies. It is chosen when the rollout or its last attempt begins. */
  generation: documentGeneration.optional(),
})
export type ManagedClusterRun = z.infer<typeof managedClusterRun>

export const rolloutStatus = z.object({
  /** `waiting`: for an Approval, or for the pause between two waves. */
  state: z.enum(['running', 'waiting', 'stopped', 'done']),
  message: z.string(),
  attempt: z.int().min(1),
  startedAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  /** When the last wave passed its gate. */
  gatePassedAt: z.iso.datetime().optional(),
  waves: fleetWaves,
  clusters: z.record(z.string(), managedClusterRun),
})
export type RolloutStatus = z.infer<typeof rolloutStatus>

export const approvalSpec = z.object({
  rollout: z.string().min(1),
  /** The wave that may start. The first wave is 1. */
  wave: z.int().min(1),
  /** Who approved it. */
  by: z.string().optional(),
})
